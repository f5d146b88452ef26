import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { pythonEnvironment } from '../test/support/python-environment.ts';
import { addBenchConnections, emptyTables, clearWatermarks, syncBills } from './bench-connection.ts';
import { startBenchServers, type BenchServers } from './bench-servers.ts';
import { billsToken } from './bills-token.ts';
import { migrateDatabase } from './initial.ts';
import { median, perSecond, ratio, type Measured } from './measured.ts';
import { readCpuSeconds, peakMegabytes, postgresCpuSeconds } from '../test/support/process-cost.ts';

/** Another tool that loads the same pages into the same Postgres. */
interface Peer {
  readonly name: string;
  /** The schema that it loads into. */
  readonly schema: string;
  readonly requirements: readonly string[];
  /** A program in `bench/peers`, and its arguments after the API, the token, the database and the schema. */
  readonly program: string;
  readonly mode: readonly string[];
  /** The URL scheme of its database driver. */
  readonly scheme: string;
}

const dlt = { requirements: ['dlt[postgres]==1.31.0'], program: 'load_with_dlt.py', scheme: 'postgres:' };
const peers: readonly Peer[] = [
  { ...dlt, name: 'dlt 1.31.0, by default', schema: 'dlt_default', mode: ['default'] },
  { ...dlt, name: 'dlt 1.31.0, tuned by its guide', schema: 'dlt_tuned', mode: ['tuned'] },
  {
    name: 'Singer, meltanolabs-target-postgres 0.8.1',
    schema: 'singer',
    requirements: ['meltanolabs-target-postgres==0.8.1'],
    program: 'load_with_singer.py',
    mode: [],
    scheme: 'postgresql+psycopg2:',
  },
];

/** The cost of one load. */
interface Load {
  readonly bills: number;
  readonly seconds: number;
  /** The tool's CPU time, without Postgres. */
  readonly cpuSeconds: number;
  readonly postgresCpuSeconds: number;
  /** The peak memory of the tool. */
  readonly megabytes: number;
}

/** A first load, and a second one of the same pages. */
interface Loads {
  readonly first: Load;
  readonly replay: Load;
}

/**
 * Loads the same pages with Daybook and with other tools, one after the other in each round, and reports the resulting tables. Daybook
 * reads two streams at once, its default; the others read the one list of a company.
 */
export async function measurePeers(
  { bills, repeat }: { bills: number; repeat: number },
  progress: (text: string) => void,
): Promise<Measured[]> {
  progress('Python environments');
  const environments = new Map<Peer, string>();
  for (const peer of peers) environments.set(peer, await pythonEnvironment([...peer.requirements]));
  const servers = await startBenchServers(migrateDatabase);
  const warehouse = openWarehouse({ url: servers.databaseUrl, connections: 4 });
  const home = await mkdtemp(join(tmpdir(), 'daybook-peers-'));
  try {
    await addBenchConnections(warehouse, servers, { names: ['one', 'two'], bills });
    const ours: Loads[] = [];
    const theirs = new Map<Peer, Loads[]>(peers.map((peer) => [peer, []]));
    for (let round = 1; round <= repeat; round += 1) {
      progress(`round ${round} of ${repeat}: Daybook`);
      ours.push(await loadWithDaybook(warehouse, servers, bills));
      for (const [peer, loads] of theirs) {
        progress(`round ${round} of ${repeat}: ${peer.name}`);
        const python = join(environments.get(peer) ?? '', 'bin', 'python');
        loads.push(await loadWith(peer, { warehouse, servers, bills, python, home: join(home, `${round}`) }));
      }
    }
    return [
      ...summarizeLoads('Daybook, two streams', ours),
      ...[...theirs].flatMap(([peer, loads]) => [
        ...summarizeLoads(peer.name, loads),
        ...compareWithPeer(peer, { ours, theirs: loads }),
      ]),
      ...(await describeKept(warehouse)),
    ];
  } finally {
    await warehouse.close();
    await servers.stop();
    await rm(home, { recursive: true, force: true });
  }
}

async function loadWithDaybook(warehouse: Warehouse, servers: BenchServers, bills: number): Promise<Loads> {
  const connections = ['one', 'two'];
  const load = async (): Promise<Load> => {
    const before = await readCpuSeconds(servers.worker.pid, { withEnded: false });
    const { result: seconds, postgres } = await countingPostgres(servers, () =>
      syncBills(servers, connections),
    );
    return {
      bills: bills * connections.length,
      seconds,
      cpuSeconds: (await readCpuSeconds(servers.worker.pid, { withEnded: false })) - before,
      postgresCpuSeconds: postgres,
      megabytes: await peakMegabytes(servers.worker.pid),
    };
  };
  await emptyTables(warehouse);
  const first = await load();
  await clearWatermarks(warehouse);
  return { first, replay: await load() };
}

async function loadWith(
  peer: Peer,
  input: { warehouse: Warehouse; servers: BenchServers; bills: number; python: string; home: string },
): Promise<Loads> {
  const { warehouse, servers, bills, python, home } = input;
  const { schema, program, mode, scheme } = peer;
  await warehouse.pool.query(`drop schema if exists ${schema}, ${schema}_staging cascade`);
  const token = billsToken({ bills, name: 'one', changed: 0, revision: 0 });
  const database = servers.databaseUrl.replace(/^postgres:/, scheme);
  const load = async (): Promise<Load> => {
    const { result, postgres } = await countingPostgres(servers, () =>
      promisify(execFile)(
        python,
        [join(programs, program), servers.apiUrl, token, database, schema, ...mode],
        { env: { ...process.env, PEER_HOME: home } },
      ),
    );
    const seen = JSON.parse(result.stdout) as Pick<Load, 'seconds' | 'cpuSeconds' | 'megabytes'>;
    return { ...seen, bills, postgresCpuSeconds: postgres };
  };
  return { first: await load(), replay: await load() };
}

const programs = fileURLToPath(new URL('peers', import.meta.url));

async function countingPostgres<Result>(
  servers: BenchServers,
  work: () => Promise<Result>,
): Promise<{ result: Result; postgres: number }> {
  const postmaster = await servers.postmasterPid();
  const before = await postgresCpuSeconds(postmaster);
  const result = await work();
  return { result, postgres: (await postgresCpuSeconds(postmaster)) - before };
}

function summarizeLoads(name: string, loads: readonly Loads[]): Measured[] {
  return (['first', 'replay'] as const).map((which) => {
    const of = (key: keyof Load): number => median(loads.map((load) => load[which][key]));
    const per100k = (seconds: number): string => ((seconds / of('bills')) * 100_000).toFixed(1);
    return {
      what: `${name}: ${which === 'first' ? 'first load' : 'the same pages again'}`,
      seen: [
        perSecond(of('bills'), of('seconds')),
        `CPU s per 100,000: ${per100k(of('cpuSeconds'))}, Postgres ${per100k(of('postgresCpuSeconds'))}`,
        `${of('megabytes').toFixed(0)} MB`,
      ].join('; '),
    };
  });
}

function compareWithPeer(
  { name, schema }: Peer,
  { ours, theirs }: { ours: readonly Loads[]; theirs: readonly Loads[] },
): Measured[] {
  return (['first', 'replay'] as const).map((which) => {
    const rate = (loads: readonly Loads[]): number =>
      median(loads.map((load) => load[which].bills / load[which].seconds));
    const target = which === 'first' ? '5.00' : '12.00';
    return {
      what: `Daybook / ${name}, ${which === 'first' ? 'first load' : 'the same pages again'}`,
      seen: ratio(rate(ours) / rate(theirs)),
      ...(schema === 'dlt_tuned' ? { target: `at least ${target}` } : {}),
    };
  });
}

/** Describes the content of the tables after the pages were loaded twice. */
async function describeKept({ pool }: Warehouse): Promise<Measured[]> {
  const one = async (text: string): Promise<string> => {
    const { rows } = await pool.query<{ seen: string }>(text);
    return rows[0]?.seen ?? '';
  };
  const of = (schema: string, table: string, where = ''): string => `
    select format('%s bills; amount_due is %s, currency_rate %s', count(*), pg_typeof(min(amount_due)), pg_typeof(min(currency_rate)))
      as seen from ${schema}.${table} ${where}`;
  const lines = async (schema: string): Promise<string> =>
    one(`select coalesce(string_agg(table_name, ', ' order by table_name), 'none') as seen
         from information_schema.tables where table_schema = '${schema}' and table_name not like '\\_dlt%'`);
  const kept: Measured[] = [
    {
      what: 'Daybook keeps, of one connection',
      seen: `${await one(of('finance', 'bills', "where connection_id = 'one'"))}; ${await one(
        `select format('%s versions in history, %s lines', (select count(*) from history.record_versions where connection_id = 'one'),
           (select count(*) from finance.bill_lines where connection_id = 'one')) as seen`,
      )}`,
    },
  ];
  for (const { name, schema } of peers)
    kept.push({
      what: `${name} keeps`,
      seen: `${await one(of(schema, 'bills'))}; tables: ${await lines(schema)}; no history`,
    });
  return kept;
}
