import type { Settings } from '../../config/settings.ts';
import { checkAddresses } from '../../warehouse/ownership/check-addresses.ts';
import { checkSchema } from '../../warehouse/schema/migrate.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { listReaders, type ReaderListed } from '../../warehouse/readers/list-readers.ts';
import { readersState } from '../../warehouse/readers/readers-state.ts';
import { requireClock } from '../../warehouse/clock/require-clock.ts';
import { missingRoleSettings } from '../../warehouse/schema/role-settings.ts';
import { checkSecretKey } from '../../warehouse/secrets/check-secret-key.ts';
import type { CheckResult } from './finding.ts';

export async function checkDatabase(warehouse: Warehouse): Promise<string> {
  const { rows } = await warehouse.pool.query<{ version: string; is_too_old: boolean }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int < 150000 as is_too_old`,
  );
  const [{ version, is_too_old: isTooOld } = { version: '', is_too_old: false }] = rows;
  if (isTooOld) throw new Error(`Postgres ${version} is too old: Daybook needs 15 or newer`);
  await checkSchema(warehouse);
  return `Postgres ${version}, migrated`;
}

export async function checkClock(warehouse: Warehouse): Promise<string> {
  return `Postgres says ${(await requireClock(warehouse)).toISOString()}, within a day of this host's clock`;
}

export async function checkPooler({ database }: Settings): Promise<CheckResult> {
  const { pooler, direct } = await checkAddresses(database);
  const problems =
    direct === 'transaction mode'
      ? [
          'migrations, exports and builds go through a pooler that lends sessions: set DAYBOOK_DATABASE_DIRECT_URL to the address of Postgres itself',
        ]
      : [];
  return { problems, allWell: pooler };
}

export async function checkKey(warehouse: Warehouse, { secretKey }: Settings): Promise<string> {
  await checkSecretKey(warehouse, await secretKey());
  return 'decrypts the stored access tokens';
}

/** Checks the settings that `migrate` sets for its own role; a role that did not migrate has none of them. */
export async function checkSessions({ pool }: Warehouse): Promise<CheckResult> {
  const missing = await missingRoleSettings(pool);
  const toRun = `sessions of this role lack what "daybook migrate" sets for the role that it runs as. Run: ${missing.join(' ')}`;
  return {
    problems: missing.length === 0 ? [] : [toRun],
    allWell: 'time limits end idle sessions, so none keeps its locks',
  };
}

/** Checks the logins for readers, and the settings that let others in too. */
export async function checkReaders(warehouse: Warehouse): Promise<CheckResult> {
  const { hasRole, toRun, notLetIn } = await readersState(warehouse);
  const why = hasRole
    ? 'everyone who can log in to the server can connect to this database, or write to it'
    : 'there is no role daybook_reader for this user, so queries run as the owner, read-only';
  const ask = `${why}. Ask an administrator of the server to run: ${toRun} Then run "daybook migrate".`;
  const ofSome = await listReaders(warehouse);
  const count = ofSome.length === 0 ? '' : `; ${ofSome.length} limited to some connections`;
  const waiting = notLetIn.length === 0 ? '' : `; without CONNECT here: ${notLetIn.join(', ')}`;
  return {
    problems: [...(toRun === '' ? [] : [ask]), ...ofSome.flatMap(describeTroubles)],
    allWell: `daybook_reader exists, and only roles with CONNECT can connect${count}${waiting}`,
  };
}

function describeTroubles({ reader, login, connections, trouble, beyond }: ReaderListed): string[] {
  const found = beyond.map(
    (role) =>
      `reader ${reader} sees all connections with "set role ${role}", which its login was made a member of. Run: revoke ${role} from ${login};`,
  );
  if (trouble !== null)
    found.push(`reader ${reader} cannot read: ${trouble}. "daybook reader add" recreates it`);
  else if (connections.length === 0)
    found.push(
      `reader ${reader} sees nothing, since its connections were removed: "daybook reader remove ${reader}"`,
    );
  return found;
}
