import { hash as digestOf } from 'node:crypto';

/**
 * By which a record's content is told from another: of its text without the value of `last_synced_at`. Where that is not written compactly
 * the hash covers it too; then a record that was only touched takes the longer way, through the comparison in Postgres, to the same end.
 */
export function contentHash(text: string, lastSyncedAt: unknown): Buffer {
  const content =
    typeof lastSyncedAt === 'string' ? text.replace(`"last_synced_at":"${lastSyncedAt}"`, '') : text;
  return digestOf('sha256', content, 'buffer');
}
