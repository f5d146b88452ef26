import { hash as digestOf } from 'node:crypto';

/**
 * By which a record's content is told from another: of its text without the value of `last_synced_at`. Where that is not written compactly
 * the hash covers it too; then a record that was only touched takes the longer way, through the comparison in Postgres, to the same end.
 */
export function contentHash(text: string, lastSyncedAt: unknown): Buffer {
  if (typeof lastSyncedAt !== 'string') return digestOf('sha256', text, 'buffer');
  const member = `"last_synced_at":"${lastSyncedAt}"`;
  const at = text.indexOf(member);
  return at === -1 ? digestOf('sha256', text, 'buffer') : hashWithout(text, at, at + member.length);
}

/** The same where it is known where that member stands. */
export function hashWithout(text: string, start: number, end: number): Buffer {
  return digestOf('sha256', text.slice(0, start) + text.slice(end), 'buffer');
}
