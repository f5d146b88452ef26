import type { Migration as InTransaction } from 'kysely';

/**
 * One step to a newer schema: either a separate transaction, which changes all or nothing, or indexes on tables that may be large, which are built
 * outside a transaction, while others read and write.
 *
 * A transaction that alters a table blocks readers until its end, so slow statements come before that, or in another migration. A constraint is
 * therefore added `not valid` in one migration, and validated in the next.
 */
export type Migration = InTransaction | IndexMigration;

export interface IndexMigration {
  readonly indexes: readonly ConcurrentIndex[];
}

export interface ConcurrentIndex {
  /** Name with its schema, which is also that of the index. */
  readonly table: `${string}.${string}`;
  readonly name: string;
  /** The rest of the statement after the table's name: method, columns, condition. */
  readonly on: string;
}
