import type { ClientBase } from 'pg';

export interface SnapshotNote {
  /** Where it is. */
  lake: string;
  /** What its manifest says. */
  manifest: {
    snapshot_id: string;
    run_id: string;
    taken_at: string;
    rows: number;
    bytes: number;
    unfit: readonly unknown[];
    unfit_values?: number | undefined;
  };
  manifestSha256: string;
  mark: string;
  /** Its files. */
  sizes: { parts: number; partsAdded: number; bytesAdded: number };
}

/**
 * Writes down that a snapshot was published. Twice is once; one that was removed since was published anew, as by the next attempt of an export
 * that was killed, with files of its own.
 */
export async function noteSnapshot(
  client: ClientBase,
  { lake, manifest, manifestSha256, mark, sizes }: SnapshotNote,
): Promise<void> {
  const {
    snapshot_id: snapshotId,
    run_id: runId,
    taken_at: takenAt,
    rows,
    bytes,
    unfit,
    unfit_values,
  } = manifest;
  await client.query(
    `insert into sync.snapshots
       (snapshot_id, run_id, lake, taken_at, rows, bytes, unfit, manifest_sha256, mark, parts, parts_added, bytes_added)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (snapshot_id) do update set
       removed_at = null, run_id = excluded.run_id, lake = excluded.lake, taken_at = excluded.taken_at, rows = excluded.rows,
       bytes = excluded.bytes, unfit = excluded.unfit, manifest_sha256 = excluded.manifest_sha256, mark = excluded.mark,
       parts = excluded.parts, parts_added = excluded.parts_added, bytes_added = excluded.bytes_added
       where snapshots.removed_at is not null`,
    [
      snapshotId,
      runId,
      lake,
      takenAt,
      rows,
      bytes,
      unfit_values ?? unfit.length,
      manifestSha256,
      mark,
      sizes.parts,
      sizes.partsAdded,
      sizes.bytesAdded,
    ],
  );
}

/** What was noted of a snapshot; undefined when nobody noted it, as in a database that was restored to a moment before it. */
export async function readNote(
  client: Pick<ClientBase, 'query'>,
  snapshotId: string,
): Promise<{ mark: string; manifestSha256: string } | undefined> {
  const { rows } = await client.query<{ mark: string; manifestSha256: string }>(
    'select mark, manifest_sha256 as "manifestSha256" from sync.snapshots where snapshot_id = $1',
    [snapshotId],
  );
  return rows[0];
}

/**
 * The SHA-256 of the manifest of each snapshot of which it was ever noted, by ID. In any lake: one may have been copied, and one that was to be
 * removed may be there still.
 */
export async function readManifestHashes(
  client: Pick<ClientBase, 'query'>,
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ id: string; sha256: string }>(
    `select snapshot_id as id, manifest_sha256 as sha256 from sync.snapshots where manifest_sha256 <> ''`,
  );
  return new Map(rows.map(({ id, sha256 }) => [id, sha256]));
}

/** From that lake: one that was published in another may be there still, though this one has a copy of it. */
export async function noteSnapshotRemoved(
  client: ClientBase,
  { lake, id }: { lake: string; id: string },
): Promise<void> {
  await client.query(
    `update sync.snapshots set removed_at = clock_timestamp()
     where snapshot_id = $1 and lake = $2 and removed_at is null`,
    [id, lake],
  );
}

export async function noteSnapshotThere(
  client: ClientBase,
  { lake, id }: { lake: string; id: string },
): Promise<void> {
  await client.query('update sync.snapshots set removed_at = null where snapshot_id = $1 and lake = $2', [
    id,
    lake,
  ]);
}
