import { Kysely, PostgresDialect, type LogEvent } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { judgeAlerts } from '../../warehouse/alerts/judge-alerts.ts';
import { readStatus } from '../../warehouse/connections/read-status.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { readRuns } from '../../warehouse/runs/read-run.ts';
import { interruptSilentRuns } from '../../warehouse/runs/interrupt-silent-runs.ts';
import type { Database } from '../../warehouse/tables/database.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();
const ids: string[] = [];

/** So many rows that a plan which reads all of them is never cheaper. */
beforeAll(async () => {
  for (let index = 0; index < 40; index += 1) ids.push(await addTestConnection(warehouse));
  await warehouse.pool.query(
    `insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, started_at, finished_at)
     select connection || '/' || n, connection, 'sync', 'succeeded', 'sync/' || connection, connection || '/' || n, 'schedule',
       now() - n * interval '15 minutes', now() - n * interval '15 minutes'
     from unnest($1::text[]) as connection, generate_series(1, 1000) as n`,
    [ids],
  );
  await warehouse.pool.query(
    `insert into sync.run_streams (run_id, connection_id, stream, status, started_at, finished_at)
     select run_id, connection_id, stream, 'succeeded', started_at, finished_at
     from sync.runs, (values ('bills'), ('items'), ('customers')) as listed (stream)`,
  );
  await warehouse.pool.query('vacuum analyze sync.runs, sync.run_streams');
});

const questions: Record<string, (on: Warehouse) => Promise<unknown>> = {
  'status of all connections': (on) => readStatus(on),
  'status of one': (on) => readStatus(on, ids[0]),
  'the newest runs': (on) => readRuns(on, { limit: 20 }),
  'the runs before one': (on) => readRuns(on, { limit: 20, before: `${ids[0]}/500` }),
  'the newest runs of one connection': (on) => readRuns(on, { limit: 20, connectionId: ids[0] }),
  'the runs of one connection before one': (on) =>
    readRuns(on, { limit: 20, connectionId: ids[0], before: `${ids[0]}/500` }),
  'what runs': (on) => readRuns(on, { limit: 20, running: true }),
  'a run by its Temporal run': (on) => readRuns(on, { limit: 1, temporalRunId: `${ids[0]}/500` }),
  'a run of now by its Temporal run': (on) =>
    readRuns(on, { limit: 1, temporalRunId: `${ids[0]}/500`, running: true }),
  'what is wrong': (on) => judgeAlerts(on, { pausedElsewhere: [] }),
  'runs that are silent': (on) => interruptSilentRuns(on),
};

test.each(Object.keys(questions))('%s: read without a sequential scan of the ledger', async (name) => {
  const asked: { text: string; values: readonly unknown[] }[] = [];
  await questions[name]!(recording(asked));
  expect(asked.length).toBeGreaterThan(0);
  for (const { text, values } of asked) {
    const { rows } = await warehouse.pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...values]);
    const plan = rows.map((line) => line['QUERY PLAN']).join('\n');
    expect(plan).not.toMatch(/Seq Scan on (runs|run_streams)\b/);
  }
});

test('a continued run is found by its latest Temporal run and by its first', async () => {
  const first = `${ids[1]}/7`;
  await warehouse.pool.query(`update sync.runs set temporal_run_id = 'continued' where run_id = $1`, [first]);
  for (const temporalRunId of ['continued', first]) {
    const found = await readRuns(warehouse, { temporalRunId, limit: 2 });
    expect(found.map(({ run_id }) => run_id)).toEqual([first]);
  }
});

/** Records the statements sent to the database. */
function recording(asked: { text: string; values: readonly unknown[] }[]): Warehouse {
  const log = ({ query }: LogEvent): void => {
    asked.push({ text: query.sql, values: query.parameters });
  };
  const pool: Warehouse['pool'] = new Proxy(warehouse.pool, {
    get(target, name): unknown {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (name !== 'query') return member.bind(target) as unknown;
      return async (text: string, values: readonly unknown[] = []) => {
        asked.push({ text, values });
        return warehouse.pool.query(text, [...values]);
      };
    },
  });
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: warehouse.pool }), log });
  return { pool, db, close: () => Promise.resolve() };
}
