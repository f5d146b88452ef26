import { randomUUID } from 'node:crypto';
import { CommitsLost } from '../errors.ts';
import { inTransaction, type OpenTransaction } from './in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** Runs `work` in a separate transaction, after checking that the previous one was committed. */
export type InBatch = <Result>(work: (transaction: OpenTransaction) => Promise<Result>) => Promise<Result>;

/**
 * Runs `walk` in batches. Each batch counts itself in `sync.settings`, under a name of this walk, and requires the count of the previous one. So
 * completion is never recorded if a standby that lacks a batch took over: CommitsLost is thrown, and the next walk begins anew.
 */
export async function inCountedBatches<Result>(
  { pool }: Pick<Warehouse, 'pool'>,
  { what, signal }: { what: string; signal: AbortSignal | undefined },
  walk: (inBatch: InBatch) => Promise<Result>,
): Promise<Result> {
  const name = `batches of ${what} ${randomUUID()}`;
  await pool.query(
    `with left_behind as (
       delete from sync.settings
       where name like 'batches of %' and (value::json->>'began')::timestamptz not between now() - interval '1 day' and now()
     )
     insert into sync.settings (name, value) values ($1, json_build_object('began', now(), 'done', 0)::text)`,
    [name],
  );
  let done = 0;
  const result = await walk(async (work) => {
    signal?.throwIfAborted();
    const made = await inTransaction(pool, async (transaction) => {
      const { rowCount } = await transaction.client.query(
        `update sync.settings
         set value = json_build_object('began', value::json->>'began', 'done', $2::int + 1)::text
         where name = $1 and (value::json->>'done')::int = $2`,
        [name, done],
      );
      if (rowCount === 0) throw new CommitsLost(what);
      return work(transaction);
    });
    done += 1;
    return made;
  });
  await pool.query('delete from sync.settings where name = $1', [name]);
  return result;
}
