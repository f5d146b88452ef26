import pg from 'pg';
import type { FaultRuleInput } from '../../sandbox/faults/fault-rule.ts';
import type { Installation } from '../support/installation.ts';

/** A fault that begins in the middle of a sync and lasts until it is ended. */
export interface LastingFault {
  readonly fault: string;
  /** Begins the fault, and returns a function that ends it. */
  readonly inject: (target: FaultTarget) => Promise<() => Promise<unknown>>;
  /** The message of `daybook sync` about the fault. */
  readonly message: RegExp;
}

interface FaultTarget {
  readonly admin: Installation['admin'];
  /** Connects as superuser. */
  readonly adminUrl: string;
  readonly connection: string;
}

export const lastingFaults: readonly LastingFault[] = [
  {
    fault: 'Postgres out of connections',
    inject: (target) => setDatabase(target, 'connection limit 0', 'connection limit -1'),
    message: /The warehouse does not answer \(it has no connection left\).*/,
  },
  {
    fault: 'Postgres read-only',
    inject: (target) =>
      setDatabase(target, 'set default_transaction_read_only = on', 'reset default_transaction_read_only'),
    message: /The warehouse cannot be written: it is read-only.*/,
  },
  apiFault('API closes the connection without an answer', { kind: 'reset' }),
  apiFault('API breaks off in the middle of the answer', { kind: 'cut' }),
  apiFault('API sends half a body as a whole one', { kind: 'truncated' }),
  apiFault('API answers 200 with HTML', { kind: 'html', status: 200 }),
  apiFault('API answers 200 with nothing', { kind: 'empty' }),
  apiFault('API answers 503', { kind: 'status', status: 503 }),
];

function apiFault(fault: string, how: FaultRuleInput['fault']): LastingFault {
  return {
    fault,
    async inject({ admin, connection }) {
      await admin.addFault({ match: { connection, path: '/accounting/bills' }, fault: how });
      return () => admin.clearFaults();
    },
    message: /(?<=has failed \d+ times: )GET .accounting.bills.*/,
  };
}

/** Changes a setting of the database, and ends all sessions so that new ones get the setting. */
async function setDatabase(
  { adminUrl }: FaultTarget,
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
