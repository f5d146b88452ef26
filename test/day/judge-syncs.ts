import { platformNamed } from '../../sandbox/api/platforms.ts';
import type { SourceOperation } from './source-operation.ts';
import type { DayEnvironment } from './open-day-environment.ts';

/**
 * Judges that everything that a sync can know of (a change, a new record, a deletion with an event) is in history once the first sync that
 * began after it has succeeded. Subscriptions are left out: they come in no order, so an interrupted sync may have passed a record that
 * changed meanwhile.
 */
export async function judgeSyncs(
  { warehouse, admin }: DayEnvironment,
  input: { connection: string; syncs: readonly EndedSync[]; operations: readonly SourceOperation[] },
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
  const operations = input.operations.filter((operation) => operation.connection === connection);
  return operations
    .filter(({ resource, kind }) => resource !== 'subscriptions' && knowable(kind))
    .filter(({ resource, kind }) => kind !== 'deleted' || deletionEvents.includes(resource))
    .flatMap((operation) => {
      const sync = syncs.find(({ status, started }) => status === 'succeeded' && started > operation.doneAt);
      const ended = sync?.finished ?? null;
      if (sync === undefined || ended === null || wasUndone(operation, operations, ended)) return [];
      const name = `${operation.resource}/${operation.id}`;
      const known = versions.filter((version) => version.name === name && version.recorded <= ended);
      if (isKnown(operation, known)) return [];
      const seconds = ((ended - operation.doneAt) / 1000).toFixed(1);
      return [
        `${connection}: the sync ${sync.run_id} succeeded without ${name}, ${operation.kind} ${seconds} s before its end.`,
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

function knowable(kind: SourceOperation['kind']): boolean {
  return kind === 'changed' || kind === 'added' || kind === 'deleted';
}

/** Whether a later operation undid this one before the sync was over, so that the sync may have seen only the later one. */
function wasUndone(
  operation: SourceOperation,
  operations: readonly SourceOperation[],
  until: number,
): boolean {
  const later = operations.slice(operations.indexOf(operation) + 1).filter(({ begunAt }) => begunAt <= until);
  const same = later.filter(({ resource, id }) => resource === operation.resource && id === operation.id);
  const undoing = operation.kind === 'deleted' ? ['recreated'] : ['deleted', 'vanished'];
  return same.some(({ kind }) => undoing.includes(kind));
}

function isKnown(operation: SourceOperation, known: readonly Version[]): boolean {
  if (operation.kind !== 'deleted') return known.some(({ version }) => version >= operation.version);
  const seen = known.filter(({ recorded }) => recorded < operation.begunAt);
  return seen.length === 0 || seen.at(-1)?.op === 'delete' || known.some(isDeletionAfter(operation));
}

function isDeletionAfter({ begunAt }: SourceOperation): (version: Version) => boolean {
  return ({ op, recorded }) => op === 'delete' && recorded >= begunAt;
}
