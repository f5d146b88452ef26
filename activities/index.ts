import { beginRun, type BeginRunInput, type BegunRun } from './begin-run.ts';
import type { Dependencies } from './dependencies.ts';
import { finishRun, type FinishRunInput } from './finish-run.ts';
import { readStream, type ReadStreamInput, type StreamRead } from './read-stream.ts';
import type { FinishedRun } from '../warehouse/runs/finish-run.ts';

export interface Activities {
  readonly beginRun: (input: BeginRunInput) => Promise<BegunRun>;
  readonly readStream: (input: ReadStreamInput) => Promise<StreamRead>;
  readonly finishRun: (input: FinishRunInput) => Promise<FinishedRun>;
}

export function createActivities(dependencies: Dependencies): Activities {
  return {
    beginRun: (input) => beginRun(dependencies, input),
    readStream: (input) => readStream(dependencies, input),
    finishRun: (input) => finishRun(dependencies, input),
  };
}
