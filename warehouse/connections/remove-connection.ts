import type { Warehouse } from '../open-warehouse.ts';
import { beginRemoval, type RemovalBegun } from './begin-removal.ts';
import { finishRemoval, type RemovalProgress } from './finish-removal.ts';
import { readKeptData, type KeptData } from './kept-data.ts';

export interface ConnectionRemoved {
  readonly removed: RemovalBegun['removed'];
  /** What stays under the name. */
  readonly kept: KeptData | undefined;
}

/**
 * Forgets the connection and its state; its records, their history and their deletions go too, unless `keepData`. Then it
 * stays known whose they are. Of a name of which only records are left, it deletes these, unless `keepData`. `begin` surrounds
 * the beginning with what follows from it: afterwards nobody finds the connection any more, and its rows go, even if that fails.
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
