import pg from 'pg';
import type { FaultRuleInput } from '../../sandbox/faults/fault-rule.ts';
import type { Installation } from '../support/installation.ts';

/** A fault that begins in the middle of a sync and lasts until it is ended. */
export interface Adversity {
  readonly fault: string;
  /** Begins the fault, and returns a function that ends it. */
  readonly strike: (place: Place) => Promise<() => Promise<unknown>>;
  /** The message of `daybook sync` about the fault. */
  readonly words: RegExp;
}

interface Place {
  readonly admin: Installation['admin'];
  /** Connects as superuser. */
  readonly adminUrl: string;
  readonly connection: string;
}

export const adversities: readonly Adversity[] = [
  {
    fault: 'Postgres out of connections',
    strike: (place) => setDatabase(place, 'connection limit 0', 'connection limit -1'),
    words: /The warehouse does not answer \(it has no connection left\).*/,
  },
  {
    fault: 'Postgres read-only',
    strike: (place) =>
      setDatabase(place, 'set default_transaction_read_only = on', 'reset default_transaction_read_only'),
    words: /The warehouse cannot be written: it is read-only.*/,
  },
  ofApi('API closes the connection without an answer', { kind: 'reset' }),
  ofApi('API breaks off in the middle of the answer', { kind: 'cut' }),
  ofApi('API sends half a body as a whole one', { kind: 'truncated' }),
  ofApi('API answers 200 with HTML', { kind: 'html', status: 200 }),
  ofApi('API answers 200 with nothing', { kind: 'empty' }),
  ofApi('API answers 503', { kind: 'status', status: 503 }),
];

function ofApi(fault: string, how: FaultRuleInput['fault']): Adversity {
  return {
    fault,
    async strike({ admin, connection }) {
      await admin.addFault({ match: { connection, path: '/accounting/bills' }, fault: how });
      return () => admin.clearFaults();
    },
    words: /(?<=has failed \d+ times: )GET .accounting.bills.*/,
  };
}

/** Changes a setting of the database, and ends all sessions so that new ones get the setting. */
async function setDatabase(
  { adminUrl }: Place,
  setting: string,
  original: string,
): Promise<() => Promise<unknown>> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  const set = async (what: string): Promise<void> => {
    await client.query(`alter database ${client.escapeIdentifier(client.database ?? '')} ${what}`);
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  };
  await set(setting);
  return async () => {
    await set(original);
    await client.end();
  };
}
