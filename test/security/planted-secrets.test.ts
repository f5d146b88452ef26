import { beforeAll, describe, expect, test } from 'vitest';
import { crawlConsole } from './crawl-console.ts';
import { findPlanted, type Place } from './find-planted.ts';
import { contents, secrets } from './planted.ts';
import { startPlantedInstallation } from './planted-installation.ts';
import { provokeFailures } from './provoke-failures.ts';
import { readFiles } from './read-files.ts';
import { readHistories } from './read-temporal.ts';
import { readWarehouse } from './read-warehouse.ts';
import { runEveryCommand } from './run-every-command.ts';
import { useEverything } from './use-everything.ts';

const installation = await startPlantedInstallation();
const { outputs, up, env, daybook } = installation;
const none: Place[] = [];
const places = {
  'the console': none,
  'the histories of Temporal': none,
  'the tables': none,
  'the list of processes': none,
  'what processes say': none,
  'the files of the home': none,
  'the files and the log of Postgres': none,
};
/** The tables that are not made to hold records. */
let ledger = none;
let holders: Awaited<ReturnType<typeof readFiles>> = [];
/** The file with the addresses of the servers, for commands. */
const addresses = 'home/runtime.json';

beforeAll(async () => {
  const { http, temporal } = JSON.parse(await daybook([['status', '--json']])) as Running;
  await useEverything(installation, http);
  await provokeFailures(installation);
  await runEveryCommand(installation);
  places['the console'] = await crawlConsole(http);
  places['the histories of Temporal'] = await readHistories(temporal.address);
  ({ all: places['the tables'], ledger } = await readWarehouse(installation.adminUrl));
  places['the list of processes'] = [await installation.commandLines()];
  const home = await readFiles(env.DAYBOOK_HOME ?? '');
  places['the files of the home'] = home.filter(({ name }) => name !== addresses);
  holders = home.filter((file) => findPlanted([file], secrets).length > 0);
  await up.stop();
  places['what processes say'] = [...outputs, { name: 'daybook up', content: up.output() }];
  await installation.stopPostgres();
  places['the files and the log of Postgres'] = (
    await Promise.all(installation.postgresFiles.map(readFiles))
  ).flat();
});

describe('no token, password or key is', () => {
  test.each(listKinds(places))('in %s', (kind) => {
    expect(places[kind].length).toBeGreaterThan(0);
    expect(findPlanted(places[kind], secrets)).toEqual([]);
  });

  test("in the file with the servers' addresses, except the database password; and only its owner can read it", () => {
    expect(holders).toMatchObject([{ name: addresses, isPrivate: true }]);
    expect(findPlanted(holders, secrets)).toEqual([`databasePassword in ${addresses}`]);
  });
});

describe('no content of a record is', () => {
  test.each([
    'the console',
    'the histories of Temporal',
    'the list of processes',
    'what processes say',
  ] as const)('in %s', (kind) => {
    expect(findPlanted(places[kind], contents)).toEqual([]);
  });

  test('in the tables that describe runs', () => {
    expect(findPlanted(ledger, contents)).toEqual([]);
  });

  test('in the files of the home, except snapshots and marts', () => {
    const others = places['the files of the home'].filter(({ name }) => !name.startsWith('home/lake/'));
    expect(findPlanted(others, contents)).toEqual([]);
  });
});

test('the search covered every failure, and the content of every kind of record in the tables', () => {
  const reported = ledger.map(({ content }) => String(content)).join('\n') + up.output();
  for (const failure of failures) expect(reported, failure).toContain(failure);
  const tables = findPlanted(places['the tables'], contents);
  for (const content of Object.keys(contents)) expect(tables.join('\n')).toContain(content);
});

const failures = [
  ...['ConnectionDisabled', 'CredentialsRefused', 'PlatformAccessRefused', 'RequestRefused', 'GaveUp'],
  ...['IdentityInUse', 'KeyRotated', 'lists none of the resources', 'Unexpected', 'UnreadableResponse'],
  ...['SourceUnavailable', 'CursorNotMoving'],
];

function listKinds(of: typeof places): (keyof typeof places)[] {
  return Object.keys(of) as (keyof typeof places)[];
}

interface Running {
  readonly http: string;
  readonly temporal: { readonly address: string };
}
