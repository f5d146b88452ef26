import type { Company } from './play-run.ts';
import { nameOf, streamOf, type TrueRecord } from './true-record.ts';
import { BrokenPromise } from './watch.ts';

/**
 * Call it when a run begins; what it returns, when the run is over: what was true at its beginning and has not changed since must be
 * in the tables, for every stream of which the run says that it succeeded. A sync cannot know of everything, a reconcile can.
 */
export function judgeRun({ stage, connection, source }: Company, runId: string): () => Promise<void> {
  const before = [...source.records.values()].map((record) => ({ ...record }));
  return async () => {
    const proved = await succeeded();
    if (proved.size === 0) return;
    const still = before.filter((record) => isSame(record, source.records.get(nameOf(record))));
    for (const resource of source.listed) {
      const mine = still.filter((record) => record.resource === resource);
      const held = await versionsOf(resource);
      for (const record of mine) {
        const kind = proved.get(record.live ? streamOf(record) : deathStreamOf(record));
        if (kind === undefined || record.spoiled || (kind === 'sync' && record.hidden)) continue;
        const version = held.get(record.id);
        if (record.live && (version === undefined || version < record.version))
          throw new BrokenPromise(`A ${kind} says it succeeded, and ${nameOf(record)} is not here.`);
        if (!record.live && version !== undefined)
          throw new BrokenPromise(`A ${kind} says it succeeded, and ${nameOf(record)} is still here.`);
      }
    }
  };

  /** Streams, with the kind of the run. */
  async function succeeded(): Promise<Map<string, string>> {
    const { rows } = await stage.watcher.query<{ stream: string; kind: string }>(
      `select s.stream, r.kind from sync.run_streams s join sync.runs r using (run_id)
       where run_id = $1 and s.status = 'succeeded' and r.kind in ('sync', 'reconcile')`,
      [runId],
    );
    return new Map(rows.map(({ stream, kind }) => [stream, kind]));
  }

  async function versionsOf(resource: string): Promise<Map<string, number>> {
    const version = resource === 'subscriptions' ? 'updated_at' : 'last_synced_at';
    const { rows } = await stage.watcher.query<{ id: string; version: number }>(
      `select id, (extract(epoch from ${version}) * 1000)::float8 as version
       from finance.${resource} where connection_id = $1`,
      [connection],
    );
    return new Map(rows.map(({ id, version: held }) => [id, held]));
  }
}

function isSame(before: TrueRecord, now: TrueRecord | undefined): boolean {
  return now?.version === before.version && now.live === before.live && now.deletedAt === before.deletedAt;
}

/** What tells of the end of a record: an event, or a list that does not show it any more. */
function deathStreamOf(record: TrueRecord): string {
  return record.announcedAt === null ? streamOf(record) : 'events';
}
