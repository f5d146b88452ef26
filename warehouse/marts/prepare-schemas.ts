import type { ClientBase } from 'pg';
import { LockHeld, takingLocks, type LockWait } from '../transactions/taking-locks.ts';
import { refuseForeignSchemas } from './refuse-foreign-schemas.ts';

/** Two schemas take turns: one is shown, the other is built. */
export type MartsSchema = 'marts_a' | 'marts_b';

/**
 * Empties what dbt is going to fill and says which of the two schemas of marts it is: the one that is not shown.
 * What a killed build left there goes with it. Throws LockHeld, and ForeignSchema before anything is dropped.
 */
export async function prepareSchemas(client: ClientBase, waiting: LockWait = {}): Promise<MartsSchema> {
  const next = await hiddenSchema(client);
  const statements = [
    ...emptiedCopies,
    ...emptied(next, 'one of the two schemas that marts are built in; query the views in marts'),
  ].join(';\n');
  // A transaction that read the build before the last one, and goes on, is in the way.
  await takingLocks(client, { what: 'Building the marts', ...waiting }, async () => {
    await refuseForeignSchemas(client, [...schemasOfCopies, next]);
    await client.query(statements);
  });
  return next;
}

/**
 * Empties what only a build reads: several times what the marts are. Whoever looks at it is waited for half a minute, and then left
 * alone; the next build empties it. Expects to hold the lock of builds.
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

/** The one of the two that readers do not see. */
export async function hiddenSchema(client: Pick<ClientBase, 'query'>): Promise<MartsSchema> {
  const { rows } = await client.query<{ value: string }>(
    `select value from sync.settings where name = 'marts_schema'`,
  );
  return rows[0]?.value === 'marts_a' ? 'marts_b' : 'marts_a';
}

/** What only a build reads. */
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
