import { Kysely, PostgresDialect } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { Database } from '../../warehouse/tables/database.ts';
import { createInstallation } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import { createSandboxApiClient } from '../simulation/create-sandbox-api-client.ts';
import { createDependencies } from '../simulation/create-dependencies.ts';
import { Driver } from '../simulation/driver.ts';

/** Kills the worker of a tick at each of its commits; the next attempt completes its work. Needs no Temporal. */
const installation = await createInstallation();
const { admin, sandbox, warehouse } = installation;
const api = createSandboxApiClient(installation);
afterAll(() => api.close());
afterEach(() => admin.configure({}));

describe.each([
  ['which ends the sync itself', 500, ['succeeded']],
  ['which leaves the sync to its workflow', 5, ['succeeded']],
] as const)('a tick %s', (_, maximumLimit, statuses) => {
  test.each(['before', 'after'] as const)(
    'leaves one run and an exact copy if its worker is killed %s any commit',
    async (when) => {
      let place = 0;
      for (let died = true; died;) {
        place += 1;
        await admin.configure({ maximumLimit });
        const connection = await installation.connect({ records: 20 });
        const worker = killAtCommit(place, when);
        const calls: string[] = [];
        const driver = new Driver({
          connection,
          worker: () => worker.next(),
          pass: () => Promise.resolve(),
          isTerminated: () => false,
          onCall: (name) => calls.push(name),
          onFailure: (failure) => {
            throw failure;
          },
        });
        await driver.tick(`${connection}-1`, []);
        died = worker.died();
        const runs = await rows(
          warehouse,
          `select run_id, status from sync.runs where connection_id = $1 and kind = 'sync'`,
          [connection],
        );
        const where = `${when} commit ${place}`;
        expect(runs, where).toEqual(statuses.map((status) => ({ run_id: `${connection}-1`, status })));
        // The workflow continues lists with more than one page. Otherwise it is not started, whatever was killed.
        expect(calls.includes('beginRun'), where).toBe(maximumLimit < 20);
        const open = await rows(
          warehouse,
          `select stream from sync.run_streams where connection_id = $1 and status <> 'succeeded'`,
          [connection],
        );
        expect(open, where).toEqual([]);
        expect((await installation.compare(connection)).differences, where).toEqual([]);
      }
      // At least the run, eight passes and eight pages, the proof of the company, and the end.
      expect(place).toBeGreaterThan(maximumLimit < 20 ? 3 : 18);
    },
    300_000,
  );
});

/** Successive workers, of which the first is killed at a commit of the tick. */
function killAtCommit(
  place: number,
  when: 'before' | 'after',
): { next: () => ReturnType<ConstructorParameters<typeof Driver>[0]['worker']>; died: () => boolean } {
  let dead = false;
  let commits = 0;
  let die = (): void => undefined;
  const lost = new Promise<void>((resolve) => {
    die = resolve;
  });
  const kill = (): void => {
    dead = true;
    die();
  };
  return {
    died: () => dead,
    next: () => {
      const isFirst = !dead;
      const isDead = (): boolean => isFirst && dead;
      return {
        lost: isFirst ? lost : new Promise(() => undefined),
        isDead,
        dependencies: (key) =>
          createDependencies({
            warehouse:
              isFirst && key.startsWith('tick/')
                ? createKillableWarehouse(
                    warehouse.pool,
                    async (commit) => {
                      commits += 1;
                      if (commits === place && when === 'before') kill();
                      if (!dead) await commit();
                      if (commits === place) kill();
                    },
                    isDead,
                  )
                : warehouse,
            api,
            apiAddress: sandbox.url,
            lookbackMilliseconds: 600_000,
          }),
      };
    },
  };
}

/** The warehouse of a process that may be killed: a killed one does nothing more, and its open transactions are rolled back. */
function createKillableWarehouse(
  pool: Pool,
  commitBy: (commit: () => Promise<unknown>) => Promise<void>,
  isDead: () => boolean,
): Warehouse {
  const never = new Promise<never>(() => undefined);
  const connect = async (): Promise<PoolClient> => {
    if (isDead()) return never;
    const client = await pool.connect();
    return new Proxy(client, {
      get(target, name): unknown {
        if (name === 'query')
          return async (...given: [string]) => {
            if (isDead()) return never;
            if (given[0] !== 'commit') return target.query(...given);
            let answer: unknown;
            await commitBy(async () => {
              answer = await target.query(...given);
            });
            if (!isDead()) return answer;
            target.release(true);
            return never;
          };
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  };
  const dying: Pool = new Proxy(pool, {
    get(target, name): unknown {
      if (name === 'connect') return connect;
      if (name === 'query')
        return async (...given: unknown[]) => {
          if (isDead()) return never;
          return (target.query as unknown as (...given: unknown[]) => Promise<unknown>).apply(target, given);
        };
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  return {
    pool: dying,
    db: new Kysely<Database>({ dialect: new PostgresDialect({ pool: dying }) }),
    close: () => Promise.resolve(),
  };
}
