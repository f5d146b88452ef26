/** The lake cannot be written or read as it is set up: permissions, a missing bucket, a wrong address. A person is needed. */
export class LakeRefused extends Error {
  override readonly name = 'LakeRefused';
  readonly handling = 'stop';

  constructor(location: string, reason: string, cause?: unknown) {
    super(`The lake ${location} refuses: ${reason}. Check DAYBOOK_LAKE and its permissions.`, { cause });
  }
}

/** Object storage answers, and does not remove what it is told to: it is not permitted, or somebody has locked it. A person is needed. */
export class LakeKeeps extends Error {
  override readonly name = 'LakeKeeps';
  readonly handling = 'stop';

  /** `uploads`: those that never ended, which no list of files shows. */
  constructor(location: string, { files, code }: { files: number | 'uploads'; code: string }) {
    super(
      files === 'uploads'
        ? `The lake ${location} did not give up uploads that never ended (${code}), so what they hold may still be there. Permit Daybook to ` +
            'list and abort them (s3:ListBucketMultipartUploads, s3:AbortMultipartUpload).'
        : `The lake ${location} did not remove ${files.toLocaleString('en-US')} ${files === 1 ? 'file' : 'files'} (${code}), so what they hold is ` +
            'still there. Permit Daybook to delete objects there (s3:DeleteObject), and release what is locked.',
    );
  }
}

/** Why storage keeps what `work` removes; undefined when it is gone. For who has more to do all the same. */
export async function keptBack(work: () => Promise<void>): Promise<LakeKeeps | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof LakeKeeps) return error;
    throw error;
  }
}

/** A file of the lake is not one that Daybook wrote: damaged, or made by somebody else who may write there. */
export class LakeAltered extends Error {
  override readonly name = 'LakeAltered';
  readonly handling = 'stop';

  /** `where` says which part is wrong. It may be anybody's words, so only what is a name of ours is repeated. */
  constructor(location: string, file: string, where: readonly PropertyKey[]) {
    const named = where.filter((part) => /^[a-z_0-9]{1,63}$/.test(String(part))).join('.');
    super(
      `${file} of the lake ${location} is not as Daybook writes it${named === '' ? '' : ` (${named})`}, so nothing of it was used. ` +
        'Look who may write there; put back what was there, or remove the file and run "daybook export".',
    );
  }
}

/** Object storage that does not answer, or answers that it is busy. */
export class LakeUnavailable extends Error {
  override readonly name = 'LakeUnavailable';
  readonly handling = 'retry';

  constructor(location: string, reason: string, cause?: unknown) {
    super(
      `The lake ${location} does not answer (${reason}). When it does, exports go on by themselves; run a command that this ended again.`,
      { cause },
    );
  }
}

/** Why storage counts as one that does not answer, although something came. */
export const unreadableAnswer = 'its answer cannot be read';

/** Nothing was published, and what was written is removed. `setting` is the variable that says where the folder is. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull';
  readonly handling = 'stop';

  constructor(folder: string, { neededBytes, setting }: { neededBytes: number; setting: string }) {
    const megabytes = Math.max(1, Math.ceil(neededBytes / 1_000_000)).toLocaleString('en-US');
    super(
      `There is no room for a snapshot in ${folder}: it needs about ${megabytes} MB. Free some space or set ${setting} to ` +
        'another place, then run "daybook export" again, or the command that this ended.',
    );
  }
}

/** A table has a row that no buffer holds. */
export class RowTooLong extends Error {
  override readonly name = 'RowTooLong';
  readonly handling = 'stop';

  constructor(table: string, longestBytes: number) {
    super(
      `Table ${table} has a row of more than ${longestBytes / 1_000_000} MB, which no snapshot can hold, so nothing was published. ` +
        'Shorten it at the source; the longest memo or platform_data tells which it is.',
    );
  }
}

/** So much is listed that no reader would take the manifest. */
export class ManifestTooLong extends Error {
  override readonly name = 'ManifestTooLong';
  readonly handling = 'stop';

  constructor(unfit: number) {
    super(
      `A snapshot has ${unfit.toLocaleString('en-US')} values that their Parquet type cannot hold to list in its manifest, which with its files and ` +
        'watermarks would be longer than 64 MB: nobody would read it, so nothing was published.',
    );
  }
}

/** The snapshots there are of another database; a lake shows the history of one. */
export class ForeignLake extends Error {
  override readonly name = 'ForeignLake';
  readonly handling = 'stop';

  constructor(location: string) {
    super(
      `The lake ${location} holds snapshots of another warehouse, so nothing was written. Set DAYBOOK_LAKE to a place of its own.`,
    );
  }
}

/** What was read back is not what the database had: nothing is published. */
export class SnapshotBroken extends Error {
  override readonly name = 'SnapshotBroken';
  readonly handling = 'retry';

  constructor(problem: string) {
    super(`A snapshot that was just written is not right, so it was not published: ${problem}.`);
  }
}

/** A file of a published snapshot is gone, or not the one that its manifest names. */
export class SnapshotDamaged extends Error {
  override readonly name = 'SnapshotDamaged';
  readonly handling = 'stop';

  constructor(id: string, file: string) {
    super(
      `${file} of snapshot ${id} is not what its manifest says, so the snapshot was not used: "daybook export" makes a new one.`,
    );
  }
}
