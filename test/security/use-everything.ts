import pg from 'pg';
import { webhookSignature } from '../../source/webhook-signature.ts';
import { eventually } from '../support/eventually.ts';
import { bill, billLine, customer, list } from '../support/finance-records.ts';
import { connectionWebhook, send } from '../webhooks/webhook.ts';
import { companies, tokenOf } from './companies.ts';
import { contents, secrets } from './planted.ts';
import type { PlantedInstallation } from './planted-installation.ts';

/** Runs every kind of run once, with records and secrets that can be found again, and causes every failure that an answer can cause. */
export async function useEverything(installation: PlantedInstallation, url: string): Promise<void> {
  const { admin, daybook } = installation;
  await openBooks(installation);
  await connect(installation);
  await daybook(companies.map(({ name }) => ['sync', name]));
  await daybook([
    ['backfill', 'acme', '--from', '2024-01-01', '--to', '2024-06-01', '--resource', 'bills'],
    ['reconcile', 'acme', '--json'],
  ]);
  await admin.sendWebhooks({ addresses: [`${url}/webhooks`] });
  const patch = JSON.stringify({ memo: contents.announced });
  await admin.execute({ kind: 'change', connection: 'acme', resource: 'bills', id: 'good', patch });
  await sendWebhooks(url);
  await untilApplied(installation);
  const question = `select count(*) as here from finance.bills where memo = '${contents.announced}'`;
  await eventually(async () =>
    (await daybook([['sql', question, '--csv']])).includes('\n1') ? 'applied' : undefined,
  );
  await daybook([['quarantine', 'replay'], ['export'], ['rebuild', 'acme', '--resource', 'bills']]);
}

/** Queries directly, because a command for each look would take longer than the wait. */
async function untilApplied({ adminUrl }: PlantedInstallation): Promise<void> {
  const client = new pg.Client(adminUrl);
  await client.connect();
  try {
    await eventually(async () => {
      const { rowCount } = await client.query('select from finance.bills where memo = $1', [
        contents.announced,
      ]);
      return rowCount === 0 ? undefined : 'applied';
    });
  } finally {
    await client.end();
  }
}

async function openBooks({ admin }: PlantedInstallation): Promise<void> {
  await admin.execute(
    ...companies
      .filter(({ name }) => name !== 'twice')
      .map((company) => ({
        kind: 'add-connection' as const,
        name: company.name,
        accessToken: tokenOf(company),
        platform: 'QUICKBOOKS',
        records: 60,
      })),
  );
  const add = { kind: 'add', connection: 'acme' } as const;
  const lines = list(billLine({ description: JSON.stringify(contents.line) }));
  const good = bill('good', { memo: JSON.stringify(contents.memo), line_items: lines });
  const bad = bill('bad', { memo: JSON.stringify([contents.refused]) });
  const name = JSON.stringify(contents.customer);
  await admin.execute(
    { ...add, resource: 'bills', record: good },
    { ...add, resource: 'bills', record: bad },
    { ...add, resource: 'customers', record: customer('somebody', { customer_name: name }) },
  );
  for (const { name: connection, fault } of companies) {
    if (fault !== undefined) await admin.addFault({ match: { connection }, fault });
  }
}

async function connect({ daybook }: PlantedInstallation): Promise<void> {
  const given = Object.fromEntries(companies.map((company, index) => [`TOKEN_${index}`, tokenOf(company)]));
  const add = (name: string, index: number) => ['connection', 'add', name, '--token-env', `TOKEN_${index}`];
  await daybook(
    companies.map(({ name }, index) => [...add(name, index), '--every', '1h']),
    { ...given, TOKEN_1: secrets.replacedToken },
  );
  await daybook([['connection', 'set-token', 'awkward', '--token-env', 'TOKEN_1']], given);
}

/** Sends three webhooks: a genuine one with tokens everywhere, one that is no JSON, and one with another signature. */
async function sendWebhooks(url: string): Promise<void> {
  const { token, clientSecret } = secrets;
  const address = JSON.stringify(`http://api/bills?access_token=${token}&limit=1`);
  const job = connectionWebhook('acme', {
    type: '"JOB"',
    code: '"JOB_COMPLETED"',
    access_token: JSON.stringify(token),
    job: `{"request":{"url":${address},"body":${JSON.stringify(JSON.stringify({ access_token: token }))}}}`,
  });
  const noJson = `${job.slice(0, -1)},`;
  for (const body of [job, noJson]) await send(url, body, webhookSignature(body, clientSecret));
  await send(url, job, webhookSignature(job, secrets.wrongPassword));
}
