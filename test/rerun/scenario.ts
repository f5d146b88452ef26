import type { RunStatus } from '../../warehouse/tables/runs.ts';
import type { Installation } from '../support/installation.ts';

/** One way for a workflow to run to its end, to be rerun from anywhere. */
export interface Scenario {
  readonly name: string;
  /** Makes what it is about, anew each time; returns how people start it. */
  readonly prepare: (installation: Installation) => Promise<Start>;
}

export interface Start {
  readonly workflow: string;
  readonly workflowId: string;
  readonly input: object;
  /** The company whose tables equal the source at the end. */
  readonly exact?: string;
  /** How its runs end, and those of what it starts: all succeed, when absent. */
  readonly statuses?: readonly RunStatus[];
  /** Sent with the start. */
  readonly signal?: string;
  /** Ids of the workflows that it starts. */
  readonly followedBy?: readonly string[];
  /** Says whether nothing is left of it that goes on by itself, some time after its end. */
  readonly isOver?: () => Promise<boolean>;
}
