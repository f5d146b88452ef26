import type { ClientBase } from 'pg';

/**
 * Takes a lock that lasts as long as the session, unless another session of Daybook has it. `oldKey` is the advisory lock that
 * releases before 0.6 take instead; a stranger who holds that one is in nobody's way.
 */
export async function tryLock(
  client: ClientBase,
  { name, oldKey }: { name: string; oldKey: number | string },
): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('select sync.try_lock($1, $2) as locked', [
    name,
    oldKey,
  ]);
  return rows[0]?.locked === true;
}
