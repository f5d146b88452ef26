import { sql } from 'kysely';
import type { Warehouse } from './open-warehouse.ts';
import { scramVerifier } from './secrets/scram-verifier.ts';

/** A login to make, or to make right again. */
export interface NewLogin {
  readonly login: string;
  readonly password: string;
  /** Of which it is a member. */
  readonly role: string;
}

/** What makes a login that reads this database. Postgres gets what it keeps of the password, and not the password itself. */
export async function loginStatements(
  db: Warehouse['db'],
  { login, password, role }: NewLogin,
): Promise<string[]> {
  const { rows } = await sql<{ there: boolean; database: string }>`
    select exists (select from pg_roles where rolname = ${login}) as there,
      quote_ident(current_database()) as database
  `.execute(db);
  const [{ there, database } = { there: false, database: '' }] = rows;
  return [
    `${there ? 'alter' : 'create'} role ${login} login password '${scramVerifier(password)}'`,
    `grant ${role} to ${login}`,
    `grant connect on database ${database} to ${login}`,
    `alter role ${login} reset all`,
    `alter role ${login} in database ${database} reset all`,
    ...Object.entries(settingsOfLogin).map(([name, value]) => `alter role ${login} set ${name} = '${value}'`),
  ];
}

/** What its sessions begin with. */
export const settingsOfLogin: Readonly<Record<string, string>> = {
  default_transaction_read_only: 'on',
  TimeZone: 'UTC',
};
