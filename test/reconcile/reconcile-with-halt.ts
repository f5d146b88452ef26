import { randomUUID } from 'node:crypto';
import { Kysely, PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import type { Database } from '../../warehouse/tables/database.ts';
import type { DeletionQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { Driver } from '../simulation/driver.ts';
import { createDependencies } from '../simulation/create-dependencies.ts';
import type { ScriptedService } from '../replication/scripted-service.ts';
import { overSessions } from '../support/over-sessions.ts';
import { rows } from '../support/rows.ts';
import { beginStatement } from '../../warehouse/transactions/in-transaction.ts';

export interface Halt {
  /** The activity whose first attempt stalls. */
  readonly name: string;
  /** Stops before its transaction with this number, or before its statement with this number outside of one. */
  readonly beforeTransaction?: number;
  readonly beforeStatement?: number;
  /** Called when it stalls. Once this resolves, Temporal gives up the attempt. */
  readonly onHalt: () => Promise<void>;
  /** Resolves when it continues; never, if it was killed. */
  readonly resume: Promise<void>;
  /** Called before each call of an activity. */
  readonly onCall?: (name: string) => Promise<void>;
}

/** A halt that no attempt reaches. */
export const noHalt: Halt = {
  name: 'none',
  resume: Promise.resolve(),
  onHalt: () => Promise.resolve(),
};

/** Runs a reconcile as the real workflow does, except that the first attempt of one activity stalls, and later continues or stays killed. */
export async function reconcileWithHalt(
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
      const used = delayFirstStatement(
        before,
        isFirst ? createHaltingWarehouse(warehouse, halt, lose) : warehouse,
        warehouse.pool,
      );
      const usual = createDependencies({ warehouse: used, ...of });
      const dependencies = { ...usual, policies: { ...usual.policies, giveUpAfterMilliseconds: 3_000 } };
      return { lost, isDead: () => false, dependencies: () => dependencies };
    },
    pass: (milliseconds) => new Promise((resolve) => setTimeout(resolve, Math.min(milliseconds, 500))),
    isTerminated: () => false,
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

function createHaltingWarehouse(warehouse: Warehouse, halt: Halt, lose: () => void): Warehouse {
  let transactions = 0;
  let statements = 0;
  const stop = async (): Promise<void> => {
    await halt.onHalt();
    lose();
    await halt.resume;
  };
  const make = async (statement: unknown): Promise<void> => {
    // The checks of the server before each statement do not count.
    if (['require timeline', 'timeline of run'].includes(nameOf(statement))) return;
    statements += 1;
    if (statements === halt.beforeStatement) await stop();
  };
  const sessions = overSessions(warehouse, (client) => {
    let isOpen = false;
    return {
      async query(...values: [unknown]) {
        const [statement] = values;
        if (statement === beginStatement) {
          transactions += 1;
          if (transactions === halt.beforeTransaction) await stop();
          isOpen = true;
        } else if (!isOpen) await make(statement);
        if (statement === 'commit' || statement === 'rollback') isOpen = false;
        return client.query(...(values as [string]));
      },
    };
  });
  const pool = new Proxy(sessions.pool, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'query') return value;
      return async (...values: unknown[]) => {
        await make(values[0]);
        return (value as (...all: unknown[]) => Promise<unknown>)(...values);
      };
    },
  });
  return { ...warehouse, pool };
}

function nameOf(statement: unknown): string {
  return typeof statement === 'object' && statement !== null && 'name' in statement
    ? String(statement.name)
    : '';
}

/** Makes its first statement wait for `before`, which must happen before the activity begins. */
function delayFirstStatement(before: Promise<void>, warehouse: Warehouse, own: Pool): Warehouse {
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
