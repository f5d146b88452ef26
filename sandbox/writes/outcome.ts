import { asApiError } from '../api/api-error.ts';
import type { Settings } from '../api/settings.ts';
import { PlatformRefusal } from './platform-refusal.ts';

/** Returns the outcome of a write: its answer, whoever gets it. A failure is an outcome too, so nothing is thrown. */
export async function settleWrite(settings: Settings, write: () => Promise<string>): Promise<Outcome> {
  try {
    return { status: 200, body: await write(), success: true };
  } catch (error) {
    if (error instanceof PlatformRefusal)
      return { status: settings.refusalStatus, body: error.body(), success: false };
    const answer = asApiError(error);
    return { status: answer.status, body: answer.body(), success: false };
  }
}

export interface Outcome {
  /** HTTP status and JSON text. */
  readonly status: number;
  readonly body: string;
  /** False if the platform or the service refused. */
  readonly success: boolean;
}
