/** Where snapshots are kept: a folder, or a bucket. Paths are relative to it. Both keep the same protocol. */
export interface Lake {
  /** As DAYBOOK_LAKE says it. */
  readonly location: string;
  /** Where the folder is in which a snapshot is written before it is published. */
  draftFolder(id: string): string;
  /** Makes that folder anew and hands over a path to it, which is good for the time of the work. What is not published by then is removed. */
  withDraft<Result>(id: string, write: (folder: string) => Promise<Result>): Promise<Result>;
  /** Of complete snapshots, the oldest first. */
  snapshotIds(): Promise<string[]>;
  /** A small file; undefined when there is none. */
  read(path: string): Promise<Found | undefined>;
  /** Replaces a small file in one step, if it is still as it was found; says whether it did. */
  replace(path: string, text: string, found: Found | undefined): Promise<boolean>;
  /**
   * Gives a draft files of a snapshot, each under a path of its own, if all are as they were published; says whether it did. Their bytes are
   * not written again: a folder has one more link to them, a bucket copies them by itself. In a bucket the lock is checked before each
   * copy: another attempt of the same run may have published the snapshot since, and its files have the same paths.
   */
  keep(
    from: { id: string; files: readonly KeptFile[] },
    to: { id: string; paths: readonly string[]; assertHeld: AssertHeld },
  ): Promise<boolean>;
  /**
   * Makes a draft a snapshot: complete for every reader, or not there. It consists of the files that were kept, and of those that were
   * written to the draft folder, with their SHA-256 by path. Whoever may write there asks `assertHeld` whether they still may. A draft that
   * somebody else has removed as a leftover never becomes a snapshot, however late its publisher goes on.
   */
  publish(
    id: string,
    files: { written: ReadonlyMap<string, string>; kept: readonly string[]; assertHeld: AssertHeld },
  ): Promise<void>;
  /** Puts a file into the lake in one step, over the one that is there. */
  putFile(path: string, localPath: string): Promise<void>;
  /**
   * Gives a file of a snapshot or a mart one more name, over the file that has it, if it is as it was published; says whether it did. A folder
   * has one more link to it, a bucket copies it by itself.
   */
  share(file: KeptFile, to: string): Promise<boolean>;
  /** Removes a file that nothing names any more, if it is there. This and what follows throw LakeKeeps where storage does not remove it. */
  removeFile(path: string): Promise<void>;
  /** Removes a folder of the lake with everything below it, unless a link stands in for it or for one above. */
  removeFolder(path: string): Promise<void>;
  /** Whether anything is in the place of a folder of the lake: also an empty one, a file or a link. */
  isThere(folder: string): Promise<boolean>;
  /**
   * Of every file below a folder of the lake that is meant, relative to that folder; none when there is no such folder. A folder that may not be
   * opened is listed with a slash at its end: something is there. A bucket throws ListTooLong.
   */
  filesIn(folder: string, isMeant?: (path: string) => boolean): Promise<string[]>;
  /** Whether `filesIn` would list any. */
  hasFilesIn(folder: string): Promise<boolean>;
  /**
   * The IDs of snapshots by which folders directly below a folder of the lake are named that have a file somewhere below them: a folder of another
   * name is somebody else's. A bucket answers that without listing the files, of which all snapshots together may have millions.
   */
  foldersIn(folder: string): Promise<string[]>;
  /** Hands over a file of a snapshot as one on this machine, unless there is none of that size. */
  withFile<Result>(file: SizedFile, use: (localPath: string) => Promise<Result>): Promise<FileUsed<Result>>;
  /** Removes a snapshot or its marts; nobody sees a half of it. */
  removeSnapshot(id: string): Promise<void>;
  /**
   * Removes what killed exports, or killed builds of marts, left behind, in Iceberg tables uploads that never ended, but nothing of snapshots that
   * were published, though what completes them may be gone. Only while no other one runs.
   */
  removeLeftovers(of: 'snapshots' | 'marts', published?: ReadonlySet<string>): Promise<void>;
  close(): Promise<void>;
}

/** Throws when the lock is lost under which somebody writes to a lake: others may be at it, and may have removed what this one has read. */
export type AssertHeld = () => Promise<void>;

/** Somebody else may have put an object without end in its place: no more bytes than these are fetched. */
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
  /** Why it may not be read, in a word of storage or of the system: an archived object, or somebody else's file. It says nothing of other files. */
  readonly refused?: string;
}

/**
 * The largest small file that is read: a pointer names one snapshot, or the marts of two; a manifest lists values that their type could
 * not hold, some 250,000 in 64 MB. Whoever may write to a lake can put any number of bytes there, and a process that takes them all
 * into its memory ends, or stands still for minutes.
 */
export function mostBytesOf(path: string): number {
  return path.endsWith(manifestFile) ? 64 * megabyte : megabyte;
}

const megabyte = 1_048_576;

/** In the place of what Daybook does not write: it is altered for whoever reads it, and is replaced like that. */
export function unreadable(version: string, refused?: string): Found {
  return { text: '', version, ...(refused === undefined ? {} : { refused }) };
}

export const successFile = '_SUCCESS';
export const manifestFile = '_manifest.json';

/** The snapshots whose marts may be there: those that are, and the one that readers of marts are sent to. */
export async function namesOfMarts(lake: Lake): Promise<Set<string>> {
  return new Set([...(await lake.snapshotIds()), ...(await namedBy(lake, 'latest-marts.json'))]);
}

/** The snapshots that are there, and those that readers are sent to: such a one was complete, whatever became of it. */
export async function namesOfSnapshots(lake: Lake): Promise<Set<string>> {
  const shown = [await namedBy(lake, 'latest.json'), await namedBy(lake, 'latest-marts.json')];
  return new Set([...(await lake.snapshotIds()), ...shown.flat()]);
}

async function namedBy(lake: Lake, pointer: string): Promise<string[]> {
  const text = (await lake.read(pointer))?.text ?? '';
  return /\d{8}T\d{6}Z-[0-9a-f]{6}/.exec(text)?.slice(0, 1) ?? [];
}
