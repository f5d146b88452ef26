import type { ClientBase } from 'pg';
import { LockHeld, takingLocks, type LockWait } from '../transactions/taking-locks.ts';
import { endDbtSessions } from './build-lock.ts';
import { refuseForeignSchemas } from './refuse-foreign-schemas.ts';

/** Two schemas take turns: one is shown while the other is built. */
export type MartsSchema = 'marts_a' | 'marts_b';

/**
 * Empties the schemas that dbt is going to fill, and returns the one of the two marts schemas that is not shown. Leftovers of a killed build go too.
 * Throws LockHeld, and ForeignSchema before anything is dropped.
 */
export async function prepareSchemas(client: ClientBase, waiting: LockWait = {}): Promise<MartsSchema> {
  // Sessions that a killed build left running.
  await endDbtSessions(client);
  const next = await hiddenSchema(client);
  const statements = [
    ...emptiedCopies,
    ...emptied(next, 'one of the two schemas that marts are built in; query the views in marts'),
  ].join(';\n');
  // An open transaction that has read the build before the last one is in the way.
  await takingLocks(client, { what: 'Building the marts', ...waiting }, async () => {
    await refuseForeignSchemas(client, [...schemasOfCopies, next]);
    await client.query(statements);
  });
  return next;
}

/**
 * Empties the schemas that only a build reads, which take several times the space of the marts. Waits half a minute for sessions that read them, and
 * then leaves them to the next build. Expects to hold the lock of builds.
 */
export async function emptyCopies(client: ClientBase, waiting: LockWait = {}): Promise<void> {
  const wish = { what: 'Dropping the steps of the build', ...waiting, timeoutMilliseconds: 30_000 };
  try {
    await takingLocks(client, wish, () => client.query(emptiedCopies.join(';\n')));
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error;
    waiting.onStep?.(`${error.message} The next build drops them.`);
  }
}

/** Returns the one of the two schemas that readers do not see. */
export async function hiddenSchema(client: Pick<ClientBase, 'query'>): Promise<MartsSchema> {
  const { rows } = await client.query<{ value: string }>(
    `select value from sync.settings where name = 'marts_schema'`,
  );
  return rows[0]?.value === 'marts_a' ? 'marts_b' : 'marts_a';
}

/** The schemas that only a build reads. */
export const schemasOfCopies = ['staging', 'intermediate'] as const;

const emptiedCopies = [
  ...emptied(
    'staging',
    'what the models read, copied in one transaction when a build begins, and dropped when it is shown',
  ),
  ...emptied('intermediate', 'steps between staging and marts, which go when the marts are shown'),
];

function emptied(schema: string, comment: string): string[] {
  return [
    `drop schema if exists ${schema} cascade`,
    `create schema ${schema}`,
    `comment on schema ${schema} is 'Daybook: ${comment}'`,
  ];
}
