import { updateSchedules } from '../../../operations/schedules/update-schedules.ts';
import { resumeConnection } from '../../../warehouse/connections/resume-connection.ts';
import { addCompanies, type Fleet, type FleetOptions } from './open-fleet.ts';

/** Faults of a fleet besides kills and outages of Temporal. */
export interface FleetFaults {
  /** Companies that cannot be read, or not at once. The others must not wait for them. */
  readonly affected: readonly string[];
  /** Injects the faults of a minute. */
  injectAt(minute: number): Promise<void>;
  /** Removes the faults, and resumes paused connections as a person would. */
  end(): Promise<void>;
}

export const largeCompany = 'co-100000';

/**
 * From the beginning a large company is loaded and a tenth of the tokens are refused. In the second quarter each answer of the API is
 * delayed. At the beginning of the fourth quarter Postgres is killed and stays down for a while.
 */
export function createFleetFaults(
  fleet: Fleet,
  { everyMinutes, minutes }: FleetOptions & { minutes: number },
  report: (progress: string) => void,
): FleetFaults {
  const { admin, warehouse, client: temporal, sandbox } = fleet;
  const refused = fleet.names.filter((_, n) => n % 10 === 3);
  const quarter = Math.floor(minutes / 4);
  return {
    affected: [...refused, largeCompany],
    async injectAt(minute) {
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
        await updateSchedules({ warehouse, temporal }, { connectionId, resume: true });
      }
      report(`${refused.length} tokens are accepted again`);
    },
  };
}

const largeRecords = 200_000;
const slowBy = 250;
const postgresAwaySeconds = 30;
