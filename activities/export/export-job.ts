import type { KeepRule } from '../../lake/snapshots/keep-rule.ts';
import type { PartSizes } from './plan-parts.ts';

/** The input of the export process. It is sent through a pipe, never on a command line: the URL holds a password. */
export interface ExportJob {
  readonly databaseUrl: string;
  /** The maximum number of its sessions. */
  readonly databaseConnections: number;
  /** A folder or `s3://bucket/prefix`. */
  readonly lake: string;
  /** A folder on this machine for temporary files. Emptied before and after. */
  readonly scratch: string;
  readonly keep: KeepRule;
  readonly productVersion: string;
  readonly warehouseId: string;
  readonly runId: string;
  readonly snapshotId: string;
  /** Absent: Iceberg tables are skipped. */
  readonly iceberg?: IcebergJob;
  /** Makes a snapshot although nothing has changed. */
  readonly force?: boolean;
  /** A part continues in another file after so many bytes; 1 GB by default. */
  readonly partBytes?: number;
  /** How connections are distributed over parts, unless by default. */
  readonly sizes?: PartSizes;
}

export interface IcebergJob {
  /** Whether new snapshots are added to tables. Snapshots that the lake removes are removed from tables anyway. */
  readonly add: boolean;
  /** The folder of the Python environment. */
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
  /** Bytes of newly written files; the rest is shared with the snapshot before. Absent in histories of releases before 0.6. */
  readonly bytesWritten?: number;
  readonly unfit: number;
  /** The time of its rows. */
  readonly takenAt: string;
  /** The number of Iceberg tables that show it; absent when there are none. */
  readonly icebergTables?: number;
  /** Why those tables do not show it yet, in a sentence. */
  readonly icebergProblem?: string;
  /** Why older snapshots, or leftovers of killed exports, are still in the lake, in a sentence. */
  readonly removalProblem?: string;
  /** The problem with the last snapshot, which is damaged although nothing has changed. */
  readonly damage?: string;
  /** Readers stay with another snapshot, whose recorded time is later. */
  readonly isBehind?: true;
  /** Why readers see older rows nevertheless, in a sentence: a clock was ahead. */
  readonly clockProblem?: string;
}

/** Why there is no snapshot. */
export type ExportFailure =
  | { readonly kind: 'known'; readonly name: string; readonly message: string; readonly handling: string }
  | { readonly kind: 'database away'; readonly code: string }
  | { readonly kind: 'unexpected'; readonly code: string; readonly place: string; readonly stack: string };

/** A message from the export process. */
export type ExportMessage =
  | { readonly progress: ExportProgress }
  | { readonly exported: Exported }
  | { readonly failed: ExportFailure };
