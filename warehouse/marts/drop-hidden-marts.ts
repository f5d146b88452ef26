import type { ClientBase } from 'pg';
import { takingLocks, type LockWait } from '../transactions/taking-locks.ts';
import { endDbtSessions } from './build-lock.ts';
import { hiddenSchema, schemasOfCopies } from './prepare-schemas.ts';
import { refuseForeignSchemas } from './refuse-foreign-schemas.ts';

/** Drops the marts of the previous build, which nobody sees. Expects that none are being built. Throws LockHeld and ForeignSchema. */
export async function dropHiddenMarts(client: ClientBase, waiting: LockWait): Promise<void> {
  // A build that was killed may still be filling them.
  await endDbtSessions(client);
  const hidden = await hiddenSchema(client);
  await takingLocks(client, { what: 'Dropping earlier marts', ...waiting }, async () => {
    await refuseForeignSchemas(client, [hidden]);
    await client.query(`drop schema if exists ${hidden} cascade`);
  });
}

/** Drops the tables that builds copy, and the intermediate ones. Expects to hold the lock of builds. Throws LockHeld and ForeignSchema. */
export async function dropCopies(client: ClientBase, waiting: LockWait): Promise<void> {
  // A build that was killed may still be copying.
  await endDbtSessions(client);
  await takingLocks(client, { what: 'Dropping what builds have copied', ...waiting }, async () => {
    await refuseForeignSchemas(client, schemasOfCopies);
    await client.query(schemasOfCopies.map((schema) => `drop schema if exists ${schema} cascade`).join('; '));
  });
}
