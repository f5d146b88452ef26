import { expect, test } from 'vitest';
import { exitCodeOf } from '../../cli/exit-code-of.ts';
import { readSettings } from '../../cli/settings.ts';
import { parseConfig, type Config } from '../../config/parse-config.ts';
import { openHome } from '../../embedded/home.ts';
import { writeRuntimeFile, type RuntimeFacts } from '../../embedded/runtime-file.ts';
import { temporaryFolder } from '../embedded/temporary-folder.ts';
import { testKey } from '../support/test-connection.ts';

const databaseUrl = 'postgres://owner:secret@127.0.0.1:54329/daybook';
const sandbox = {
  url: 'http://127.0.0.1:8391',
  adminUrl: 'http://127.0.0.1:8392',
  clientId: 'sandbox-client',
  clientSecret: 'sandbox-secret',
  connections: [],
};

test.each([
  ['names no database', undefined],
  ['names the database of that up', databaseUrl],
])('the sandbox of a running up serves a command whose configuration %s', async (_, url) => {
  const config = await besideUp({ sandbox }, url);
  const { api, database } = await readSettings(['database', 'api'], config);
  expect(api).toMatchObject({ address: 'sandbox', url: sandbox.url });
  expect(database.url).toBe(databaseUrl);
});

test('a command with another database than that of the running up refuses its sandbox', async () => {
  const config = await besideUp({ sandbox }, 'postgres://owner@production.example.com/books');
  const refused = await readSettings(['database', 'api'], config).catch((error: unknown) => error);
  expect(String(refused)).toMatch(/DATABASE_URL is set and DAYBOOK_API_URL is not: .* Set DAYBOOK_API_URL/);
  expect(exitCodeOf(refused)).toBe(2);
  expect((await readSettings(['database'], config)).api.url).toBe('');
});

test("a command beside an up that uses a real service needs the service's address, too", async () => {
  const refused = await readSettings(['database', 'api'], await besideUp({})).catch(
    (error: unknown) => error,
  );
  expect(String(refused)).toContain('DAYBOOK_API_URL is not set');
  expect(exitCodeOf(refused)).toBe(2);
});

/** The configuration of a command on the home of a `daybook up`. */
async function besideUp(facts: Pick<RuntimeFacts, 'sandbox'>, url?: string): Promise<Config> {
  const home = await openHome(await temporaryFolder());
  await writeRuntimeFile(home, {
    startedAt: new Date().toISOString(),
    database: { url: databaseUrl, isEmbedded: false },
    temporal: { address: '127.0.0.1:7233' },
    ...facts,
  });
  return parseConfig({
    DAYBOOK_HOME: home.root,
    DATABASE_URL: url,
    DAYBOOK_SECRET_KEY: testKey.toString('base64'),
  });
}
