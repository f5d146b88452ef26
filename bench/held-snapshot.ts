import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import getPort from 'get-port';
import pg from 'pg';
import { startPostgres } from '../embedded/postgres.ts';
import { openApiBudget } from '../warehouse/api-budget/api-budget.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { takeWriteTime } from '../warehouse/clock/resource-clock.ts';
import { migrateDatabase } from './initial.ts';
import { perSecond, ratio, type Measured } from './measured.ts';

/**
 * Measures how a held snapshot (of an export, change capture, or a BI query) slows down statements that write the same rows
 * repeatedly, because Postgres keeps every version of them for it.
 */
export async function measureHeldSnapshot(
  { takes }: { takes: number },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'daybook-bench-'));
  const postgres = await startPostgres({
    dataDir: path.join(folder, 'postgres'),
    port: await getPort(),
    // Waiting for the disk would hide the effect.
    settings: { synchronous_commit: 'off' },
  });
  try {
    await migrateDatabase(postgres.url);
    const warehouse = openWarehouse({ url: postgres.url, connections: 2 });
    try {
      const measured: Measured[] = [];
      for (const { what, target, begin } of operations) {
        progress(`${what}: ${takes} without a snapshot`);
        const without = await lastRate(begin(warehouse), takes);
        progress(`${what}: ${takes} while a snapshot is held`);
        const withHeld = await whileSnapshotIsHeld(postgres.url, () => lastRate(begin(warehouse), takes));
        measured.push(
          { what: `${what}, without`, seen: perSecond(without, 1) },
          { what: `${what}, while a snapshot is held`, seen: perSecond(withHeld, 1) },
          { what: `${what}, while held / without`, seen: ratio(withHeld / without), target },
        );
      }
      return measured;
    } finally {
      await warehouse.close();
    }
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** `begin` returns the repeated operation, on rows that were not written before. */
interface Operation {
  readonly what: string;
  readonly target: string;
  readonly begin: (warehouse: Warehouse) => () => Promise<void>;
}

const operations: readonly Operation[] = [
  { what: 'takes from the API budget', target: '0.7', begin: takeFromBudget },
  { what: 'times of a resource', target: '', begin: tickResource },
];

function takeFromBudget(warehouse: Warehouse): () => Promise<void> {
  const budget = openApiBudget(warehouse, {
    apiAddress: 'bench',
    clientId: randomUUID(),
    requestsPer10s: 1_000_000,
  });
  return async () => {
    const taken = await budget.take();
    if ('silentMilliseconds' in taken) throw new Error('A budget without a limit asked for a pause.');
    taken.release();
  };
}

function tickResource({ db }: Warehouse): () => Promise<void> {
  const connectionId = randomUUID();
  return async () => {
    await takeWriteTime(db, { connectionId, resource: 'bills' });
  };
}

/** Returns the rate per second after `times` operations, once everything that counts as recent about them has expired. */
async function lastRate(operation: () => Promise<void>, times: number): Promise<number> {
  for (let done = 0; done < times; done += 1) await operation();
  await pause(11_000);
  const started = performance.now();
  for (let done = 0; done < timed; done += 1) await operation();
  return timed / ((performance.now() - started) / 1000);
}

const timed = 500;

async function whileSnapshotIsHeld<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
  const reader = new pg.Client({ connectionString: url });
  await reader.connect();
  try {
    await reader.query('begin isolation level repeatable read');
    await reader.query('select count(*) from finance.bills');
    return await work();
  } finally {
    await reader.end();
  }
}
