import { platformNamed } from '../../sandbox/api/platforms.ts';
import type { Deed } from './deed.ts';
import type { Company } from './open-company.ts';

/**
 * Judges that everything that a sync can know of (a change, a new record, a deletion with an event) is in history once the first sync that
 * began after it has succeeded. Subscriptions are left out: they come in no order, so an interrupted sync may have passed a record that
 * changed meanwhile.
 */
export async function judgeSyncs(
  { warehouse, admin }: Company,
  input: { connection: string; syncs: readonly EndedSync[]; deeds: readonly Deed[] },
): Promise<string[]> {
  const { connection, syncs } = input;
  const { platform } = await admin.connection(connection);
  const { deletionEvents } = platformNamed(platform);
  const { rows: versions } = await warehouse.pool.query<Version>(
    `select resource || '/' || record_id as name, op,
       (extract(epoch from recorded_at) * 1000)::float8 as recorded,
       (extract(epoch from last_synced_at) * 1000)::float8 as version
     from history.record_versions where connection_id = $1 order by recorded_at`,
    [connection],
  );
  const deeds = input.deeds.filter((deed) => deed.connection === connection);
  return deeds
    .filter(({ resource, kind }) => resource !== 'subscriptions' && knowable(kind))
    .filter(({ resource, kind }) => kind !== 'deleted' || deletionEvents.includes(resource))
    .flatMap((deed) => {
      const sync = syncs.find(({ status, started }) => status === 'succeeded' && started > deed.doneAt);
      const ended = sync?.finished ?? null;
      if (sync === undefined || ended === null || wasUndone(deed, deeds, ended)) return [];
      const name = `${deed.resource}/${deed.id}`;
      const known = versions.filter((version) => version.name === name && version.recorded <= ended);
      if (isKnown(deed, known)) return [];
      const seconds = ((ended - deed.doneAt) / 1000).toFixed(1);
      return [
        `${connection}: the sync ${sync.run_id} succeeded without ${name}, ${deed.kind} ${seconds} s before its end.`,
      ];
    });
}

/** Times are Unix milliseconds. */
export interface EndedSync {
  readonly run_id: string;
  readonly status: string;
  readonly started: number;
  readonly finished: number | null;
}

interface Version {
  name: string;
  op: 'upsert' | 'delete';
  recorded: number;
  version: number;
}

function knowable(kind: Deed['kind']): boolean {
  return kind === 'changed' || kind === 'added' || kind === 'deleted';
}

/** Whether a later event undid the deed before the sync was over, so that the sync may have seen only the later one. */
function wasUndone(deed: Deed, deeds: readonly Deed[], until: number): boolean {
  const later = deeds.slice(deeds.indexOf(deed) + 1).filter(({ begunAt }) => begunAt <= until);
  const same = later.filter(({ resource, id }) => resource === deed.resource && id === deed.id);
  const undoing = deed.kind === 'deleted' ? ['recreated'] : ['deleted', 'vanished'];
  return same.some(({ kind }) => undoing.includes(kind));
}

function isKnown(deed: Deed, known: readonly Version[]): boolean {
  if (deed.kind !== 'deleted') return known.some(({ version }) => version >= deed.version);
  const seen = known.filter(({ recorded }) => recorded < deed.begunAt);
  return seen.length === 0 || seen.at(-1)?.op === 'delete' || known.some(isEndAfter(deed));
}

function isEndAfter({ begunAt }: Deed): (version: Version) => boolean {
  return ({ op, recorded }) => op === 'delete' && recorded >= begunAt;
}
