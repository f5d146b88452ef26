import fc from 'fast-check';
import { pino } from 'pino';
import { request } from 'undici';
import { afterAll, expect, test } from 'vitest';
import { webhookSignature } from '../../source/webhook-signature.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { createWebhookIntake } from '../../server/webhooks/webhook-intake.ts';
import { openConsole } from '../console/open-console.ts';
import { bill, billLine, list, object, text } from '../support/finance-records.ts';
import { clientSecret, createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { buildDeletionEvent, landEvents } from '../support/land-events.ts';
import { isProof } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { hostileText, mark } from './hostile-text.ts';
import { readWarehouse } from './read-warehouse.ts';
import { recordStatements } from './record-statements.ts';
import { runCommandLines } from './run-command-lines.ts';

const installation = await createInstallation();
const { warehouse, client: temporal, cwd, env, sandbox } = installation;
const statements = recordStatements(warehouse);
const bystander = await installation.connect();
await land(warehouse, { connectionId: bystander, stream: 'bills', pages: [[bill('innocent')]] });
const url = await openConsole(installation);
const runs = { numRuns: isProof ? 60 : 20 };

afterAll(() => {
  expect(statements.length).toBeGreaterThan(isProof ? 1_000 : 300);
});

test('IDs, texts and codes of a record land unchanged and never become part of a statement', async () => {
  const connectionId = await installation.connect();
  let landings = 0;
  await fc.assert(
    fc.asyncProperty(hostileText, hostileText, async (name, memo) => {
      // A new id each time, because no deleted record is re-created.
      const id = `${name}${(landings += 1)}`;
      const said = JSON.stringify(memo);
      const line = billLine({ account_id: said, description: said });
      const record = bill(id, { memo: said, vendor_id: said, currency_code: said, line_items: list(line) });
      await land(warehouse, { connectionId, stream: 'bills', pages: [[record]] });
      const landed = await rows(
        warehouse,
        `select b.memo, b.vendor_id, b.currency_code, l.description
         from finance.bills b join finance.bill_lines l on (l.connection_id, l.bill_id) = (b.connection_id, b.id)
         where b.connection_id = $1 and b.id = $2`,
        [connectionId, withoutNul(id)],
      );
      const kept = withoutNul(memo);
      expect(landed).toEqual([{ memo: kept, vendor_id: kept, currency_code: kept, description: kept }]);
      await landEvents(warehouse, {
        connectionId,
        events: [buildDeletionEvent(withoutNul(id), '2030-01-01T00:00:00Z')],
      });
    }),
    runs,
  );
  const { left } = await row(
    warehouse,
    'select count(*) as left from finance.bills where connection_id = $1',
    [connectionId],
  );
  expect(left).toBe(0);
  expectUnharmed();
});

test('the content of a signed webhook is stored unchanged and never becomes part of a statement', async () => {
  const logger = pino({ level: 'silent' });
  const intake = createWebhookIntake({ warehouse, temporal, apiAddress: sandbox.url, clientSecret, logger });
  await fc.assert(
    fc.asyncProperty(hostileText, hostileText, async (id, said) => {
      const record = object({ id: text(id), last_synced_at: text(said) });
      const body = object({ type: '"BILL"', code: text(said), connection_id: text(said), bill: record });
      const receipt = await intake.receive(Buffer.from(body), webhookSignature(body, clientSecret));
      expect(receipt).toBe('stored');
      const newest = 'select code, record_id from sync.webhook_inbox order by last_received_at desc limit 1';
      expect(await row(warehouse, newest)).toEqual({ code: withoutNul(said), record_id: withoutNul(id) });
    }),
    runs,
  );
  intake.close();
  expectUnharmed();
});

test('input to the console never becomes part of a statement and changes nothing', async () => {
  const before = await tables();
  await fc.assert(
    fc.asyncProperty(hostileText, async (asked) => {
      const query = new URLSearchParams(
        ['connection', 'resource', 'status', 'before', 'currency', asked].map((name) => [name, asked]),
      ).toString();
      for (const page of ['', 'runs', 'quarantine', 'discrepancies', 'webhooks', 'alerts', 'dashboard'])
        expect([200, 400], page).toContain(await requestStatus(`/${page}?${query}`));
      for (const page of ['runs', 'connections'])
        expect([400, 404, 414], page).toContain(await requestStatus(`/${page}/${encodeURIComponent(asked)}`));
      for (const [path, form] of [
        [`/connections/${encodeURIComponent(asked)}/pause`, { why: asked }],
        ['/quarantine/discard', { id: asked, why: asked }],
      ] as const)
        expect([303, 400, 404, 414], path).toContain(
          await requestStatus(path, new URLSearchParams(form).toString()),
        );
    }),
    { numRuns: isProof ? 20 : 7 },
  );
  expect(await tables()).toEqual(before);
  expectUnharmed();
});

test('unknown names, IDs and times given to commands change nothing', async () => {
  // The first caller creates the id, so it is created here.
  await warehouseId(warehouse);
  const before = await tables();
  // A command line cannot contain a NUL.
  const given = fc
    .sample(hostileText, { numRuns: isProof ? 15 : 6, seed: 7 })
    .map((one) => one.replaceAll('\0', ''));
  const lines = given.flatMap((one) => [
    ...[['status'], ['runs'], ['discrepancies'], ['sync', '--no-wait'], ['rebuild']].map((line) => [
      ...line,
      one,
    ]),
    ...['pause', 'resume', 'remove'].map((what) => ['connection', what, one]),
    ['connection', 'set', one, '--every', one],
    ['erase', one, 'bills', one],
    ['quarantine', 'list', '--connection', one],
    ['backfill', bystander, '--from', one, '--to', one],
    ['reconcile', bystander, '--resource', one],
  ]);
  const printed = await runCommandLines(lines, { cwd, env });
  expect(printed.split(mark).length).toBeGreaterThan(lines.length / 2);
  expect(await tables()).toEqual(before);
});

function expectUnharmed(): void {
  expect(statements.filter((statement) => statement.includes(mark))).toEqual([]);
}

/** The whole content of the database. */
async function tables(): Promise<unknown> {
  return (await readWarehouse(installation.databaseUrl)).all;
}

async function requestStatus(path: string, form?: string): Promise<number> {
  const { statusCode, body } = await request(url + path, {
    ...(form === undefined ? {} : { method: 'POST', body: form }),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
  });
  await body.dump();
  return statusCode;
}

/** Replaces NUL, which Postgres cannot store. */
function withoutNul(said: string): string {
  return said.replaceAll('\0', '\ufffd');
}
