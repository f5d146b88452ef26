import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { listQuarantine } from '../../warehouse/quarantine/read-quarantine.ts';
import { choiceOfEntry } from '../../server/console/actions/chosen-entries.ts';
import { replayWithin } from '../../server/console/actions/replay-entries.ts';
import { ScriptedService } from '../replication/scripted-service.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { secretKey } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { openConsole, settingsOf } from './open-console.ts';

const { warehouse, url: databaseUrl } = await createTestDatabase();
const service = await new ScriptedService(warehouse).start();
const env = {
  DATABASE_URL: databaseUrl,
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  DAYBOOK_API_URL: service.url,
  DAYBOOK_CLIENT_ID: 'c',
  DAYBOOK_CLIENT_SECRET: 's',
  DAYBOOK_SECRET_KEY: secretKey.toString('base64'),
};
/** Nothing here uses Temporal. */
const client = new Client({ connection: Connection.lazy({ address: env.TEMPORAL_ADDRESS }) });
const url = await openConsole({ env, warehouse, client });
afterAll(() => {
  service.stop();
});

test('replays that a company does not answer do not block other actions of the console', async () => {
  answerNothing();
  const form = await formOf(service.connection, ['a', 'b']);
  const other = await addTestConnection(warehouse);
  const replays = Array.from({ length: 4 }, () => post('/quarantine/replay', form));
  for (const replay of replays) replay.catch(() => undefined);
  await eventually(() => Promise.resolve(service.requests.length > 0 ? true : undefined));
  const discard = await formOf(other, ['theirs']);
  discard.set('why', 'test data');
  expect((await post('/quarantine/discard', discard)).status).toBe(303);
  expect(await statusesOf(other)).toEqual([{ record_id: 'theirs', status: 'discarded' }]);
  expect(await statusesOf(service.connection)).toEqual([
    { record_id: 'a', status: 'open' },
    { record_id: 'b', status: 'open' },
  ]);
});

test('a replay that runs out of time lands what was answered, and leaves the rest open and counted', async () => {
  const silent = await new ScriptedService(warehouse).start();
  onTestFinished(() => {
    silent.stop();
  });
  silent.lists = { bills: [bill('good'), bill('late'), bill('later')] };
  silent.onFetch = (_, id) => (id === 'good' ? undefined : never());
  const form = await formOf(silent.connection, ['good', 'late', 'later']);
  const settings = settingsOf({ ...env, DAYBOOK_API_URL: silent.url });
  const parts = { warehouse, settings, temporal: client, logger: pino({ level: 'silent' }) };
  const { notice } = await replayWithin(1_500)(parts, { params: {}, form });
  expect(notice).toBe(
    '1 landed, 0 no longer needed, 2 still open. The service was not asked for 2 of them, or had not answered. ' +
      'A replay in the console ends after 1.5 s: replay the rest again, or with "daybook quarantine replay", which waits for as long as the service takes.',
  );
  expect(await statusesOf(silent.connection)).toEqual([
    { record_id: 'good', status: 'landed' },
    { record_id: 'late', status: 'open' },
    { record_id: 'later', status: 'open' },
  ]);
  expect(silent.requests.filter((path) => path.includes('/later'))).toEqual([]);
  expect(
    await rows(
      warehouse,
      `select r.status, s.failure_type from sync.runs r join sync.run_streams s using (run_id)
       where r.connection_id = $1 and kind = 'replay'`,
      [silent.connection],
    ),
  ).toEqual([{ status: 'failed', failure_type: 'OutOfTime' }]);
});

/** Makes the service accept requests and leave them open. */
function answerNothing(): void {
  service.requests = [];
  service.onFetch = never;
}

function never(): Promise<undefined> {
  return new Promise(() => undefined);
}

/** Puts bills with a number as their memo in quarantine, in the order of their ids, and returns the form with all of them ticked. */
async function formOf(connectionId: string, ids: readonly string[]): Promise<URLSearchParams> {
  for (const id of ids)
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill(id, { memo: '7' })]] });
  const entries = await listQuarantine(warehouse, { all: false, connectionId });
  return new URLSearchParams(entries.map((entry) => ['entry', choiceOfEntry(entry)]));
}

function post(path: string, form: URLSearchParams): Promise<Response> {
  return fetch(url + path, { method: 'POST', redirect: 'manual', headers: { origin: url }, body: form });
}

function statusesOf(connectionId: string) {
  return rows(
    warehouse,
    'select record_id, status from sync.quarantine where connection_id = $1 order by record_id',
    [connectionId],
  );
}
