import type { Company } from './company.ts';

/**
 * Streams that the service has listed and of which a run counted a page. A page does not count if its process died or its run was ended
 * when it came, because nobody can know of it later.
 */
export async function landedLists({ harness, connection, answered }: Company): Promise<ReadonlySet<string>> {
  const { rows } = await harness.watcher.query<{ stream: string }>(
    'select distinct stream from sync.run_streams where connection_id = $1 and pages > 0',
    [connection],
  );
  return new Set(rows.map(({ stream }) => stream).filter((stream) => answered.has(stream)));
}
