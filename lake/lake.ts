/** The storage of snapshots: a folder, or a bucket. Paths are relative to it. Both follow the same protocol. */
export interface Lake {
  /** The value of DAYBOOK_LAKE. */
  readonly location: string;
  /** Throws if the lock of the writer who opened it is lost. */
  readonly assertHeld: AssertHeld;
  /** The folder in which a snapshot is written before it is published. */
  draftFolder(id: string): string;
  /** Creates that folder anew and passes on a path to it, valid during the work. Files that are not published by then are removed. */
  withDraft<Result>(id: string, write: (folder: string) => Promise<Result>): Promise<Result>;
  /** Returns the IDs of complete snapshots, the oldest first. */
  snapshotIds(): Promise<string[]>;
  /** Reads a small file; undefined if there is none. */
  read(path: string): Promise<Found | undefined>;
  /** Replaces a small file atomically, if it is still as it was found. Returns whether it did. */
  replace(path: string, text: string, found: Found | undefined): Promise<boolean>;
  /**
   * Adds files of a snapshot to a draft, each under its own path, if all of them are as published. Returns whether it did. Their bytes are not
   * written again: a folder gets one more link to each, a bucket copies them itself. In a bucket the lock is checked before each copy: another
   * attempt of the same run may have published the snapshot since, and its files have the same paths.
   */
  keep(
    from: { id: string; files: readonly KeptFile[] },
    to: { id: string; paths: readonly string[] },
  ): Promise<boolean>;
  /**
   * Turns a draft into a snapshot: complete for every reader, or absent. It consists of the kept files and of those written to the draft folder,
   * with their SHA-256 by path. Throws if the lock is lost: another export may be running. A draft that somebody else has removed as a leftover
   * never becomes a snapshot, however late its publisher continues.
   */
  publish(
    id: string,
    files: { written: ReadonlyMap<string, string>; kept: readonly string[] },
  ): Promise<void>;
  /** Puts a file into the lake atomically, and replaces an existing one. */
  putFile(path: string, localPath: string): Promise<void>;
  /**
   * Adds a name for a file of a snapshot or a mart, and replaces the file of that name, if the source is as published. Returns whether it did.
   * A folder gets one more link to it, a bucket copies it itself.
   */
  share(file: KeptFile, to: string): Promise<boolean>;
  /** Removes a file that is no longer referenced, if it exists. This and the methods below throw LakeKeeps if storage refuses. */
  removeFile(path: string): Promise<void>;
  /** Removes a folder of the lake with everything below it, unless the folder or one above it is a link. */
  removeFolder(path: string): Promise<void>;
  /** Whether anything is at the path of a folder of the lake, even an empty folder, a file or a link. */
  isThere(folder: string): Promise<boolean>;
  /**
   * Lists every file below a folder of the lake for which `isMeant` holds, relative to that folder; none if there is no such folder. A folder
   * that may not be opened is listed with a slash at its end: something is there. A bucket throws ListTooLong.
   */
  filesIn(folder: string, isMeant?: (path: string) => boolean): Promise<string[]>;
  /** Whether `filesIn` would list any that may be Daybook's: in a bucket nothing removes others. */
  hasFilesIn(folder: string): Promise<boolean>;
  /**
   * Lists the folders directly below a folder of the lake that are named by a snapshot ID and have a file somewhere below them; other folders
   * are somebody else's. A bucket answers without listing the files, of which all snapshots together may have millions.
   */
  foldersIn(folder: string): Promise<string[]>;
  /** Passes on a local copy of a snapshot's file, unless there is none of that size. */
  withFile<Result>(file: SizedFile, use: (localPath: string) => Promise<Result>): Promise<FileUsed<Result>>;
  /** Removes a snapshot or its marts; no reader sees a half of it. */
  removeSnapshot(id: string): Promise<void>;
  /**
   * Removes leftovers of killed exports, or of killed builds of marts, and unfinished uploads in Iceberg tables, but nothing of published
   * snapshots, even if the file that completes them is gone. Only while no other export or build runs.
   */
  removeLeftovers(of: 'snapshots' | 'marts', published?: ReadonlySet<string>): Promise<void>;
  close(): Promise<void>;
}

export interface LakeToOpen {
  /** A folder, or `s3://bucket/prefix`. */
  readonly location: string;
  /** A folder on this machine for files to or from a bucket. */
  readonly scratch: string;
  /**
   * For writers. In a bucket it is called before each attempt of a request that writes or removes: the client repeats one whose answer it has
   * lost. In a folder, once a draft is there, and once names are read that are to be removed.
   */
  readonly assertHeld?: AssertHeld | undefined;
}

/** Throws if a writer's lock on the lake is lost: others may be writing, and may have removed files that this writer has read. */
export type AssertHeld = () => Promise<void>;

/** For readers, and writers that hold no lock. */
export const notLocked: AssertHeld = () => Promise.resolve();

/** Somebody else may have put an endless object in its place: no more bytes than these are fetched. */
export interface SizedFile {
  readonly path: string;
  readonly bytes: number;
}

export interface KeptFile extends SizedFile {
  readonly sha256: string;
}

export type FileUsed<Result> =
  | { readonly result: Result; readonly problem?: undefined }
  | { readonly problem: 'is missing' | 'may not be read' | 'has another size' | 'has other bytes' };

/** A small file and the version of it that was read. */
export interface Found {
  readonly text: string;
  readonly version: string;
  /** Why it may not be read, as a code of storage or of the system: an archived object, or somebody else's file. Other files may be readable. */
  readonly refused?: string;
}

/**
 * The size limit for reading a small file. A pointer names one snapshot, or the marts of two; a manifest lists values that do not fit their type,
 * some 250,000 in 64 MB. Anyone with write access to a lake can put any number of bytes there, and a process that loads them all into memory
 * ends, or hangs for minutes.
 */
export function maxBytesFor(path: string): number {
  return path.endsWith(manifestFile) ? 64 * megabyte : megabyte;
}

const megabyte = 1_048_576;

/** Stands for a file that Daybook did not write: it counts as altered for readers, and can be replaced. */
export function unreadable(version: string, refused?: string): Found {
  return { text: '', version, ...(refused === undefined ? {} : { refused }) };
}

export const successFile = '_SUCCESS';
export const manifestFile = '_manifest.json';

/** The snapshots whose marts may exist: the existing snapshots, and the one that `latest-marts.json` names. */
export async function namesOfMarts(lake: Lake): Promise<Set<string>> {
  return new Set([...(await lake.snapshotIds()), ...(await namedBy(lake, 'latest-marts.json'))]);
}

/** The existing snapshots, and those that pointers name: a named snapshot was complete, even if it is gone. */
export async function namesOfSnapshots(lake: Lake): Promise<Set<string>> {
  const shown = [await namedBy(lake, 'latest.json'), await namedBy(lake, 'latest-marts.json')];
  return new Set([...(await lake.snapshotIds()), ...shown.flat()]);
}

async function namedBy(lake: Lake, pointer: string): Promise<string[]> {
  const text = (await lake.read(pointer))?.text ?? '';
  return /\d{8}T\d{6}Z-[0-9a-f]{6}/.exec(text)?.slice(0, 1) ?? [];
}
