import { hash as digestOf } from 'node:crypto';

/**
 * Hashes a record's content: its text without the value of `last_synced_at`. If that member is not written compactly, the hash covers it too. A
 * record that was only touched is then compared in Postgres, which is slower but has the same result.
 */
export function contentHash(text: string, lastSyncedAt: unknown): Buffer {
  if (typeof lastSyncedAt !== 'string') return digestOf('sha256', text, 'buffer');
  const member = `"last_synced_at":"${lastSyncedAt}"`;
  const at = text.indexOf(member);
  return at === -1 ? digestOf('sha256', text, 'buffer') : hashWithout(text, at, at + member.length);
}

/** Hashes the content if the position of that member is known. */
export function hashWithout(text: string, start: number, end: number): Buffer {
  return digestOf('sha256', text.slice(0, start) + text.slice(end), 'buffer');
}
