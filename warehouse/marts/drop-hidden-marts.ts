import type { Warehouse } from '../open-warehouse.ts';
import { hiddenSchema } from './prepare-schemas.ts';

/** Drops the marts of the build before, which nobody sees. Expects that none are being built. */
export async function dropHiddenMarts({ pool }: Warehouse): Promise<void> {
  await pool.query(`drop schema if exists ${await hiddenSchema(pool)} cascade`);
}
