import type { RunStatus } from '../../warehouse/tables/runs.ts';
import type { Installation } from '../support/installation.ts';

/** One way in which a workflow can run to its end, to be rerun from any point. */
export interface Scenario {
  readonly name: string;
  /** Creates new data each time, and returns how people start the workflow. */
  readonly prepare: (installation: Installation) => Promise<Start>;
}

export interface Start {
  readonly workflow: string;
  readonly workflowId: string;
  readonly input: object;
  /** The company whose tables equal the source at the end. */
  readonly exact?: string;
  /** The outcomes of its runs, and of the runs that it starts. Default: all succeed. */
  readonly statuses?: readonly RunStatus[];
  /** A signal sent with the start. */
  readonly signal?: string;
  /** Ids of the workflows that it starts. */
  readonly followedBy?: readonly string[];
  /** Whether nothing that it started still runs by itself, some time after its end. */
  readonly isOver?: () => Promise<boolean>;
}
