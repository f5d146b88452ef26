import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { dbtApplication, endDbtSessions } from '../../warehouse/marts/build-lock.ts';
import { missingRoleSettings, setRoleSettings } from '../../warehouse/schema/role-settings.ts';
import { openSession } from '../../warehouse/session/open-session.ts';
import { bypassPooler } from '../support/bypass-pooler.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { url, adminUrl } = await createTestDatabase();

/** A login that acts as the owner in each session, as managed servers rotate them. */
const login = `login_${randomBytes(6).toString('hex')}`;
await asAdmin(`create role ${login} login password 'planted-password' in role daybook;
  alter role ${login} set role = 'daybook'`);
afterAll(() => asAdmin(`drop owned by ${login}; drop role ${login}`));
const asLogin = new URL(bypassPooler(url));
asLogin.username = login;
asLogin.password = 'planted-password';

test('a build ends the sessions of the build before it that were opened by a login which acts as the owner', async () => {
  const left = await openSession(asLogin.href, { application: dbtApplication });
  const ended = new Promise<void>((resolve) => {
    left.on('end', () => {
      resolve();
    });
  });
  left.on('error', () => undefined);
  const next = await openSession(asLogin.href, { application: dbtApplication });
  await endDbtSessions(next);
  await ended;
  expect((await next.query('select current_user, session_user')).rows).toEqual([
    { current_user: 'daybook', session_user: login },
  ]);
  await next.end();
});

test('a migration gives its settings to the login and to the role that it acts as', async () => {
  await asAdmin(`alter role daybook in database ${new URL(url).pathname.slice(1)} reset all`);
  const client = await openSession(asLogin.href, { application: 'daybook migrate' });
  expect(await missingRoleSettings(client)).toHaveLength(3);
  await client.query('begin');
  await setRoleSettings(client);
  expect((await client.query('select current_user')).rows).toEqual([{ current_user: 'daybook' }]);
  await client.query('commit');
  expect(await missingRoleSettings(client)).toEqual([]);
  await client.end();
  for (const address of [asLogin.href, bypassPooler(url)]) {
    const session = await openSession(address, { application: 'daybook migrate' });
    expect(await missingRoleSettings(session)).toEqual([]);
    expect((await session.query('show idle_in_transaction_session_timeout')).rows).toEqual([
      { idle_in_transaction_session_timeout: '30s' },
    ]);
    await session.end();
  }
});

async function asAdmin(statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query(statements).finally(() => client.end());
}
