import { followConnection } from '../../../operations/schedules/follow-connection.ts';
import { resumeConnection } from '../../../warehouse/connections/resume-connection.ts';
import { addCompanies, type Fleet, type FleetOptions } from './open-fleet.ts';

/** What goes wrong for a fleet beside kills and Temporal's absence. */
export interface Misfortunes {
  /** Companies that cannot be read, or not at once: the others must not wait for them. */
  readonly struck: readonly string[];
  /** Waits for what only takes a while. */
  during(minute: number): Promise<void>;
  /** All is as before; a person resumes what was paused. */
  end(): Promise<void>;
}

export const largeCompany = 'co-100000';

/**
 * From the beginning a large company is loaded and a tenth of the tokens are refused; in the second quarter each answer of the API comes
 * later; at the beginning of the fourth Postgres is killed and away for a while.
 */
export function misfortunesOf(
  fleet: Fleet,
  { everyMinutes, minutes }: FleetOptions & { minutes: number },
  report: (progress: string) => void,
): Misfortunes {
  const { admin, warehouse, client: temporal, sandbox } = fleet;
  const refused = fleet.names.filter((_, n) => n % 10 === 3);
  const quarter = Math.floor(minutes / 4);
  return {
    struck: [...refused, largeCompany],
    async during(minute) {
      if (minute === 0) {
        for (const connection of refused)
          await admin.addFault({ match: { connection }, fault: { kind: 'status', status: 401 } });
        await addCompanies(
          { admin, warehouse, apiAddress: sandbox.url },
          { group: [largeCompany], records: largeRecords, everyMinutes },
        );
        report(`${refused.length} tokens are refused, and a company of ${largeRecords} records is there`);
      }
      if (minute === quarter) {
        await admin.addFault({ forMs: quarter * 60_000, fault: { kind: 'slow', ms: slowBy } });
        report(`Each answer comes ${slowBy} ms later, for ${quarter} minutes`);
      }
      if (minute === 3 * quarter) {
        await fleet.interruptPostgres?.(postgresAwaySeconds);
        report(`Postgres was killed, and away for ${postgresAwaySeconds} s`);
      }
    },
    async end() {
      await admin.clearFaults();
      for (const connectionId of refused) {
        await resumeConnection(warehouse, { connectionId });
        await followConnection({ warehouse, temporal }, { connectionId, resume: true });
      }
      report(`${refused.length} tokens are accepted again`);
    },
  };
}

const largeRecords = 200_000;
const slowBy = 250;
const postgresAwaySeconds = 30;
