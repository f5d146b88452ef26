import type { Warehouse } from '../open-warehouse.ts';
import { beginRemoval, type RemovalBegun } from './begin-removal.ts';
import { finishRemoval, type RemovalProgress } from './finish-removal.ts';
import { readKeptData, type KeptData } from './kept-data.ts';

export interface ConnectionRemoved {
  readonly removed: RemovalBegun['removed'];
  /** The data that stays under the name. */
  readonly kept: KeptData | undefined;
}

/**
 * Deletes the connection and its state, and unless `keepData` its records, their history and their deletions too. With `keepData`, the company's
 * identity is kept. If only records are left under the name, it deletes them, unless `keepData`. `begin` wraps the marking: after it no query finds
 * the connection, and its rows are deleted even if `begin` then fails.
 *
 * Throws UnknownConnection, RemovedWithRecords.
 */
export async function removeConnection(
  warehouse: Warehouse,
  input: {
    connectionId: string;
    keepData: boolean;
    begin?: (begin: () => Promise<RemovalBegun>) => Promise<unknown>;
    onBatch?: (progress: RemovalProgress) => void;
  },
): Promise<ConnectionRemoved> {
  const {
    connectionId,
    begin = (mark: () => Promise<RemovalBegun>) => mark(),
    onBatch = () => undefined,
  } = input;
  let begun: RemovalBegun = { removed: 'nothing', removal: undefined };
  try {
    await begin(async () => {
      begun = await beginRemoval(warehouse, input);
      return begun;
    });
  } finally {
    if (begun.removal !== undefined) await finishRemoval(warehouse, { removal: begun.removal, onBatch });
  }
  const [kept] = await readKeptData(warehouse, connectionId);
  return { removed: begun.removed, kept };
}
