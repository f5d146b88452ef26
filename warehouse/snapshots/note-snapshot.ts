import type { ClientBase } from 'pg';

export interface SnapshotNote {
  /** The lake that it is in. */
  lake: string;
  /** Contents of its manifest. */
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
  /** Numbers of its files. */
  sizes: { parts: number; partsAdded: number; bytesAdded: number };
}

/**
 * Records that a snapshot was published; idempotent. A snapshot that was removed since was published anew, with its own files, as by the next attempt
 * of an export that was killed.
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

/** Reads what was noted about a snapshot; undefined if nothing was, as in a database that was restored to a moment before it. */
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
 * Reads the SHA-256 of each snapshot's manifest, if it was ever noted, by ID, for any lake: a snapshot may have been copied, and one that was to be
 * removed may still exist.
 */
export async function readManifestHashes(
  client: Pick<ClientBase, 'query'>,
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ id: string; sha256: string }>(
    `select snapshot_id as id, manifest_sha256 as sha256 from sync.snapshots where manifest_sha256 <> ''`,
  );
  return new Map(rows.map(({ id, sha256 }) => [id, sha256]));
}

/**
 * Records that a snapshot was removed from that lake. A snapshot published in another lake may still exist there, though this lake has a copy of it.
 */
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
