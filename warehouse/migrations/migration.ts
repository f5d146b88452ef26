import type { Migration as InTransaction } from 'kysely';

/**
 * One step to a newer schema. Either a transaction of its own, which changes all or nothing; or indexes on tables that may be large,
 * which are built outside of one, while others read and write.
 *
 * A transaction that alters a table keeps readers out from then until its end: what takes long comes before, or in another migration.
 * So a constraint is added `not valid` in one, and validated in the next.
 */
export type Migration = InTransaction | IndexMigration;

export interface IndexMigration {
  readonly indexes: readonly ConcurrentIndex[];
}

export interface ConcurrentIndex {
  /** With its schema. The index is in the same one. */
  readonly table: `${string}.${string}`;
  readonly name: string;
  /** What follows the table's name: method, columns, condition. */
  readonly on: string;
}
