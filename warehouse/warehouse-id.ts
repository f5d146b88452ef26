import { randomUUID } from 'node:crypto';
import type { Warehouse } from './open-warehouse.ts';

/** Returns the ID that tells this warehouse from all others, whose outside objects it leaves alone. */
export async function warehouseId({ db }: Warehouse): Promise<string> {
  const read = () =>
    db.selectFrom('sync.settings').select('value').where('name', '=', 'warehouse_id').executeTakeFirst();
  const known = await read();
  if (known !== undefined) return known.value;
  await db
    .insertInto('sync.settings')
    .values({ name: 'warehouse_id', value: randomUUID() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await read())?.value ?? '';
}
