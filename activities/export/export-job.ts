import type { KeepRule } from '../../lake/snapshots/keep-rule.ts';
import type { PartSizes } from './plan-parts.ts';

/** What the process of an export is told. It reaches it by a pipe, never by a command line: the URL holds a password. */
export interface ExportJob {
  readonly databaseUrl: string;
  /** Sessions it may have at once. */
  readonly databaseConnections: number;
  /** A folder or `s3://bucket/prefix`. */
  readonly lake: string;
  /** A folder on this machine for what is on its way. Emptied before and after. */
  readonly scratch: string;
  readonly keep: KeepRule;
  readonly productVersion: string;
  readonly warehouseId: string;
  readonly runId: string;
  readonly snapshotId: string;
  /** Absent where no Iceberg tables are thought of. */
  readonly iceberg?: IcebergJob;
  /** Makes a snapshot although nothing has changed. */
  readonly force?: boolean;
  /** A part goes on in another file after so many bytes; 1 GB unless it is said. */
  readonly partBytes?: number;
  /** How connections are shared out to parts, unless as usual. */
  readonly sizes?: PartSizes;
}

export interface IcebergJob {
  /** Whether tables show the snapshots too. Those that are there lose what the lake loses in any case. */
  readonly add: boolean;
  /** Where the Python environment is kept. */
  readonly cacheFolder: string;
}

export interface ExportProgress {
  readonly tablesDone: number;
  readonly tables: number;
  readonly rowsDone: number;
  readonly rows: number;
  readonly step: 'counting' | 'writing' | 'publishing';
}

/** `skipped`: nothing has changed since that snapshot. */
export interface Exported {
  readonly snapshotId: string;
  readonly skipped: boolean;
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
  /** Of the files that were written for it; the others it shares with the snapshot before. Absent in histories of releases before 0.6. */
  readonly bytesWritten?: number;
  readonly unfit: number;
  /** The moment whose rows it holds. */
  readonly takenAt: string;
  /** The Iceberg tables that show it; absent when there are none. */
  readonly icebergTables?: number;
  /** Why they do not show it yet, in a sentence. */
  readonly icebergProblem?: string;
  /** Why older snapshots, or what killed exports left, are still in the lake, in a sentence. */
  readonly removalProblem?: string;
  /** Nothing has changed, but the last snapshot is not as it was published any more: what is wrong with it. */
  readonly damage?: string;
  /** Readers are sent to another one, which was taken later as it says. */
  readonly isBehind?: true;
  /** Why those are older rows all the same, in a sentence: a clock was ahead. */
  readonly clockProblem?: string;
}

/** Why there is no snapshot. */
export type ExportFailure =
  | { readonly kind: 'known'; readonly name: string; readonly message: string; readonly handling: string }
  | { readonly kind: 'database away'; readonly code: string }
  | { readonly kind: 'unexpected'; readonly code: string; readonly place: string; readonly stack: string };

/** What the process says. */
export type ExportMessage =
  | { readonly progress: ExportProgress }
  | { readonly exported: Exported }
  | { readonly failed: ExportFailure };
