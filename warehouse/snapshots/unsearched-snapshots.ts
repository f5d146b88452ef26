import type { ClientBase } from 'pg';
import type { RecordNamed } from '../erase/erase-record.ts';

/** Snapshots of one lake, the newest first, that exist as far as the database knows. */
export interface NotedSnapshots {
  readonly lake: string;
  readonly ids: readonly string[];
}

/** Reads the snapshots of a lake, or without it of each. */
export async function readNoted(
  client: Pick<ClientBase, 'query'>,
  { lake }: { lake?: string } = {},
): Promise<NotedSnapshots[]> {
  const { rows } = await client.query<NotedSnapshots>(
    `select lake, array_agg(snapshot_id order by snapshot_id desc) as ids
     from sync.snapshots where removed_at is null and ($1::text is null or lake = $1) group by lake order by lake`,
    [lake ?? null],
  );
  return rows;
}

/** Reads the IDs of snapshots that exist in any lake, as far as the database knows: an incomplete one is not a leftover of a killed export. */
export async function readPublishedIds(client: Pick<ClientBase, 'query'>): Promise<ReadonlySet<string>> {
  return new Set((await readNoted(client)).flatMap(({ ids }) => ids));
}

/** Whether a snapshot was ever published in a lake, as far as the database knows. */
export async function hasPublishedIn(client: Pick<ClientBase, 'query'>, lake: string): Promise<boolean> {
  return (await client.query('select from sync.snapshots where lake = $1 limit 1', [lake])).rows.length > 0;
}

/** Reads the snapshots that may still hold an erased record, because no erasure of it has searched their lake. */
export async function readUnsearched(
  client: Pick<ClientBase, 'query'>,
  record: RecordNamed,
): Promise<NotedSnapshots[]> {
  const searched = await readSearched(client, record);
  return (await readNoted(client)).filter(({ lake }) => !searched.includes(lake));
}

/** Reads the lakes that an erasure of the record has searched: nothing there holds it any more. */
export async function readSearched(
  client: Pick<ClientBase, 'query'>,
  { connectionId, resource, id }: RecordNamed,
): Promise<string[]> {
  const { rows } = await client.query<{ lake: string }>(
    `select unnest(erased_from) as lake from sync.tombstones
     where connection_id = $1 and resource = $2 and record_id = $3`,
    [connectionId, resource.name, id],
  );
  return rows.map(({ lake }) => lake);
}

/** Records that nothing in a lake holds a record any more. */
export async function noteSearched(
  client: Pick<ClientBase, 'query'>,
  { connectionId, resource, id }: RecordNamed,
  lake: string,
): Promise<void> {
  await client.query(
    `update sync.tombstones set erased_from = erased_from || $4::text
     where connection_id = $1 and resource = $2 and record_id = $3 and $4 <> all (erased_from)`,
    [connectionId, resource.name, id, lake],
  );
}

/** Records that snapshots are gone from the lake that they were noted in; those of `movedTo` are in that one. */
export async function noteGone(
  client: Pick<ClientBase, 'query'>,
  { ids, movedTo }: { ids: readonly string[]; movedTo: { lake: string; ids: readonly string[] } },
): Promise<void> {
  await client.query(
    `update sync.snapshots set
       lake = case when snapshot_id = any($3) then $2 else lake end,
       removed_at = case when snapshot_id <> all($3) then clock_timestamp() end
     where snapshot_id = any($1) and removed_at is null`,
    [ids, movedTo.lake, movedTo.ids],
  );
}
