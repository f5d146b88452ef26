/** Work that waits for a worker. */
export interface Backlog {
  readonly steps: number;
  /** How long the oldest step has waited. */
  readonly oldestSeconds: number;
}

/** A burst of schedules that are due at the same moment is worked off sooner than this. */
const mostSeconds = 300;

export function isLate({ oldestSeconds }: Backlog): boolean {
  return oldestSeconds > mostSeconds;
}

export function backlogInWords({ steps, oldestSeconds }: Backlog): string {
  const counted = `${steps.toLocaleString('en')} ${steps === 1 ? 'step' : 'steps'}`;
  return `${counted} of runs ${steps === 1 ? 'waits' : 'wait'} for a worker, the oldest for ${Math.round(oldestSeconds / 60)} min`;
}

export const backlogRemedy =
  'Nothing is lost, and everything is later. If no worker runs, start "daybook worker". If workers run and their hosts are busy, ' +
  'start another worker elsewhere, or have connections synced less often: docs/scale.md says how much one machine does.';
