import { randomUUID } from 'node:crypto';
import { Kysely, PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import type { Database } from '../../warehouse/tables/database.ts';
import type { DeletionQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { Driver } from '../simulation/driver.ts';
import { dependenciesOf } from '../simulation/dependencies-of.ts';
import type { ScriptedService } from '../replication/scripted-service.ts';
import { rows } from '../support/rows.ts';

export interface Halt {
  /** The activity whose first attempt stands still. */
  readonly name: string;
  /** Before its so-many-th transaction (`inTransaction` takes a connection of the pool); or its so-many-th bare statement. */
  readonly beforeTransaction?: number;
  readonly beforeStatement?: number;
  /** Called when it stands still; when this resolves, Temporal gives the attempt up. */
  readonly onHalt: () => Promise<void>;
  /** When it goes on; never, if it was killed. */
  readonly resume: Promise<void>;
  /** Before each call of an activity. */
  readonly onCall?: (name: string) => Promise<void>;
}

/** No attempt stands still. */
export const noHalt: Halt = {
  name: 'none',
  resume: Promise.resolve(),
  onHalt: () => Promise.resolve(),
};

/** A reconcile as the real workflow plays it, of which the first attempt of one activity stands still, and lives on or is dead. */
export async function reconcileWith(
  warehouse: Warehouse,
  service: ScriptedService,
  resources: readonly string[],
  halt: Halt,
  approved?: DeletionQuestion,
): Promise<{ id: string; status: unknown; streams: unknown[] }> {
  const api = service.createApi();
  const of = { api, apiAddress: service.url, lookbackMilliseconds: service.lookbackMilliseconds };
  let calling = '';
  let halted = false;
  let before: Promise<void> = Promise.resolve();
  const driver = new Driver({
    connection: service.connection,
    worker: () => {
      let lose: () => void = () => undefined;
      const lost = new Promise<void>((resolve) => {
        lose = resolve;
      });
      const isFirst = calling === halt.name && !halted;
      if (isFirst) halted = true;
      const used = after(before, isFirst ? standsStill(warehouse, halt, lose) : warehouse, warehouse.pool);
      const usual = dependenciesOf({ warehouse: used, ...of });
      const dependencies = { ...usual, policies: { ...usual.policies, giveUpAfterMilliseconds: 3_000 } };
      return { lost, isDead: () => false, dependencies: () => dependencies };
    },
    pass: (milliseconds) => new Promise((resolve) => setTimeout(resolve, Math.min(milliseconds, 500))),
    ended: () => false,
    onCall: (name) => {
      calling = name;
      before = halt.onCall?.(name) ?? Promise.resolve();
    },
    onFailure: (failure) => service.failures.push(`${failure.type}: ${failure.message}`),
  });
  const id = randomUUID();
  await driver.reconcile(
    id,
    resources,
    approved === undefined ? undefined : { approved, judge: () => Promise.resolve() },
  );
  const streams = await rows(
    warehouse,
    'select stream, status, failure_type, deleted::int, totals from sync.run_streams where run_id = $1 order by stream',
    [id],
  );
  const [{ status } = { status: null }] = await rows(
    warehouse,
    'select status from sync.runs where run_id = $1',
    [id],
  );
  return { id, status, streams };
}

function standsStill(warehouse: Warehouse, halt: Halt, lose: () => void): Warehouse {
  let transactions = 0;
  let statements = 0;
  const stop = async (): Promise<void> => {
    await halt.onHalt();
    lose();
    await halt.resume;
  };
  const pool = new Proxy(warehouse.pool, {
    get(target, name) {
      if (name === 'connect')
        return async () => {
          transactions += 1;
          if (transactions === halt.beforeTransaction) await stop();
          return target.connect();
        };
      if (name === 'query')
        return async (...values: unknown[]) => {
          statements += 1;
          if (statements === halt.beforeStatement) await stop();
          const query = target.query.bind(target) as (...all: unknown[]) => Promise<unknown>;
          return query(...values);
        };
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { ...warehouse, pool };
}

/** Its first statement waits for what is to happen before the activity begins. */
function after(before: Promise<void>, warehouse: Warehouse, own: Pool): Warehouse {
  const waiting = (from: Pool): Pool =>
    new Proxy(from, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'connect' && name !== 'query') return value.bind(target) as unknown;
        return async (...values: unknown[]) => {
          await before;
          return (value.bind(target) as (...all: unknown[]) => Promise<unknown>)(...values);
        };
      },
    });
  const pool = waiting(warehouse.pool);
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: waiting(own) }) });
  return { ...warehouse, pool, db };
}
