import { UnknownConnection } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { sealToken } from '../secrets/sealed-token.ts';

/** The pinned identity stays: a token of another company is found out by the next run. Throws UnknownConnection. */
export async function setToken(
  { db }: Warehouse,
  key: Buffer,
  input: { connectionId: string; token: string },
): Promise<void> {
  const updated = await db
    .updateTable('sync.connections')
    .set({ token_sealed: sealToken(key, input) })
    .where('connection_id', '=', input.connectionId)
    .returning('connection_id')
    .executeTakeFirst();
  if (updated === undefined) throw new UnknownConnection(input.connectionId);
}
