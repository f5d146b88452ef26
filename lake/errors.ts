/** The lake cannot be written or read as it is set up: permissions, a missing bucket, a wrong address, no room. A person is needed. */
export class LakeRefused extends Error {
  override readonly name = 'LakeRefused';
  readonly handling = 'stop';

  constructor(
    location: string,
    reason: string,
    cause?: unknown,
    remedy = 'Check DAYBOOK_LAKE and its permissions.',
  ) {
    super(`Cannot use the lake ${location}: ${reason}. ${remedy}`, { cause });
  }
}

/** One file of the lake may not be read, because it is archived or somebody else's. Other files may still be readable. */
export class FileRefused extends LakeRefused {
  /** The code of storage or of the operating system. */
  readonly code: string;

  constructor(location: string, code: string, cause?: unknown) {
    super(location, code, cause);
    this.code = code;
  }
}

/** A list below one name is too long to follow. Other lists may be fine: anyone with write access to a bucket can put any number of objects there. */
export class ListTooLong extends LakeRefused {}

export const refused = Symbol('refused');

/** Returns `refused` if `work` reads a file that may not be read. */
export async function unlessRefused<Result>(work: () => Promise<Result>): Promise<Result | typeof refused> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileRefused) return refused;
    throw error;
  }
}

/** Object storage answers, but does not delete files: Daybook lacks permission, or they are locked. A person is needed. */
export class LakeKeeps extends Error {
  override readonly name = 'LakeKeeps';
  readonly handling = 'stop';

  /** `uploads`: multipart uploads that never ended, which no list of files shows. */
  constructor(location: string, { files, code }: { files: number | 'uploads'; code: string }) {
    super(
      files === 'uploads'
        ? `The lake ${location} did not abort unfinished uploads (${code}), so their content may still be there. Permit Daybook to ` +
            'list and abort them (s3:ListBucketMultipartUploads, s3:AbortMultipartUpload).'
        : `The lake ${location} did not delete ${files.toLocaleString('en-US')} ${files === 1 ? 'file' : 'files'} (${code}), so their content is ` +
            `still there. ${isOfSystem(code) ? ofFolder : ofBucket}`,
    );
  }
}

const ofBucket =
  'Permit Daybook to delete objects there (s3:DeleteObject), and unlock those that are locked.';
const ofFolder =
  'Look for what belongs to another user among its snapshots, marts and iceberg, and have that removed.';

function isOfSystem(code: string): boolean {
  return code === 'EACCES' || code === 'EPERM';
}

/** Returns the error if storage refuses the deletions of `work`; undefined if they succeed. For callers that continue in any case. */
export async function keptBack(work: () => Promise<void>): Promise<LakeKeeps | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof LakeKeeps) return error;
    throw error;
  }
}

/** A file of the lake is not as Daybook wrote it: damaged, written by somebody else with write access, or not readable at all. */
export class LakeAltered extends Error {
  override readonly name = 'LakeAltered';
  readonly handling = 'stop';

  /** `where` says which part is wrong, or why it may not be read. Anyone may have written the file, so only our own names are repeated. */
  constructor(location: string, file: string, where: readonly PropertyKey[] | { readonly refused: string }) {
    super(
      'refused' in where
        ? `${file} of the lake ${location} may not be read (${where.refused}), so it was not used. Permit Daybook to read it, or restore ` +
            'it if it is archived; or remove the file and run "daybook export".'
        : `${file} of the lake ${location} is not what Daybook wrote${inBrackets(where)}, so it was not used. ` +
            'Check who can write there; restore the original, or remove the file and run "daybook export".',
    );
  }
}

function inBrackets(where: readonly PropertyKey[]): string {
  const named = where.filter((part) => /^[a-z_0-9]{1,63}$/.test(String(part))).join('.');
  return named === '' ? '' : ` (${named})`;
}

/** Object storage does not answer, or answers that it is busy. */
export class LakeUnavailable extends Error {
  override readonly name = 'LakeUnavailable';
  readonly handling = 'retry';

  constructor(location: string, reason: string, cause?: unknown) {
    super(
      `The lake ${location} does not answer (${reason}). Exports resume by themselves once it does; rerun any command that failed because of this.`,
      { cause },
    );
  }
}

/** Why storage counts as not answering, although a response came. */
export const unreadableAnswer = 'its answer cannot be read';

/** The disk is full. Nothing was published, and written files were removed. `setting` is the variable that sets the folder. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull';
  readonly handling = 'stop';

  constructor(folder: string, { neededBytes, setting }: { neededBytes: number; setting: string }) {
    const megabytes = Math.max(1, Math.ceil(neededBytes / 1_000_000)).toLocaleString('en-US');
    super(
      `There is no room for a snapshot in ${folder}: it needs about ${megabytes} MB. Free some space or set ${setting} to ` +
        'another place, then rerun "daybook export", or the command that failed because of this.',
    );
  }
}

/** A table has a row that does not fit into any buffer. */
export class RowTooLong extends Error {
  override readonly name = 'RowTooLong';
  readonly handling = 'stop';

  constructor(table: string, longestBytes: number) {
    super(
      `Table ${table} has a row of more than ${longestBytes / 1_000_000} MB, which no snapshot can hold, so nothing was published. ` +
        'Shorten it at the source: look for the longest memo or platform_data.',
    );
  }
}

/** A manifest would be longer than readers accept. */
export class ManifestTooLong extends Error {
  override readonly name = 'ManifestTooLong';
  readonly handling = 'stop';

  constructor(listed: { files: number; watermarks: number; unfit: number }) {
    const [files, watermarks, unfit] = [listed.files, listed.watermarks, listed.unfit].map((one) =>
      one.toLocaleString('en-US'),
    );
    super(
      `The manifest of a snapshot would list ${files} files, ${watermarks} watermarks of streams, and ${unfit} values that do not fit their Parquet ` +
        'type. That is more than the 64 MB that readers take, so nothing was published. Files and watermarks grow with the number of connections: ' +
        'divide those among several warehouses, each with a lake of its own' +
        (listed.unfit === 0 ? '.' : ', or correct such values at the source.'),
    );
  }
}

/** The existing snapshots belong to another database; a lake shows the history of one. */
export class ForeignLake extends Error {
  override readonly name = 'ForeignLake';
  readonly handling = 'stop';

  constructor(location: string) {
    super(
      `The lake ${location} holds snapshots of another warehouse, so nothing was written. Set DAYBOOK_LAKE to a place of its own.`,
    );
  }
}

/** The files read back differ from the database: nothing is published. */
export class SnapshotBroken extends Error {
  override readonly name = 'SnapshotBroken';
  readonly handling = 'retry';

  constructor(problem: string) {
    super(`A snapshot failed verification right after it was written, so it was not published: ${problem}.`);
  }
}

/** A file of a published snapshot is gone, is not the one that its manifest names, or cannot be read. */
export class SnapshotDamaged extends Error {
  override readonly name = 'SnapshotDamaged';
  readonly handling = 'stop';

  constructor(id: string, file: string, problem = 'is not what its manifest says') {
    super(
      `${file} of snapshot ${id} ${problem}, so the snapshot was not used: "daybook export" makes a new one.`,
    );
  }
}

/**
 * In the folder of a snapshot, an erasure has found Parquet files that the manifest does not list, folders that it may not open, or more files
 * than can be listed. Readers that read a table by a pattern read these files too.
 */
export class FilesBeside extends Error {
  override readonly name = 'FilesBeside';
  readonly handling = 'stop';

  /** Anyone may have written the files, so only a name like ours is repeated. */
  constructor(location: string, id: string, paths: readonly string[] | 'too many') {
    const what =
      paths !== 'too many' && paths.some((path) => path.endsWith('/'))
        ? 'folders that Daybook may not open, or Parquet files'
        : 'Parquet files';
    super(
      `snapshots/${id} of the lake ${location} has ${what} that its manifest does not list (${counted(paths)}). ` +
        'They were not searched and may hold the record. Remove them ("daybook snapshots verify" names all), and run the command again.',
    );
  }
}

function counted(paths: readonly string[] | 'too many'): string {
  if (paths === 'too many') return 'more than can be listed';
  const like = paths.find((path) => /^[a-z_0-9]{1,63}\/(?:[a-z_0-9-]{1,63}(?:\.parquet|\/))?$/.test(path));
  return `${paths.length.toLocaleString('en-US')}${like === undefined ? '' : `, such as ${like}`}`;
}
