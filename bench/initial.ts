import { migrate } from '../warehouse/schema/migrate.ts';
import { openWarehouse, type Warehouse } from '../warehouse/open-warehouse.ts';
import { bareCopy } from './bare-copy.ts';
import { addBenchConnections, emptyTables, clearWatermarks, syncBills } from './bench-connection.ts';
import { startBenchServers, type BenchServers } from './bench-servers.ts';
import { landDirectly } from './direct-landing.ts';
import { lastWrites } from './last-writes.ts';
import { median, perSecond, ratio, type Measured } from './measured.ts';
import { readCpuSeconds, peakMegabytes, postgresCpuSeconds } from '../test/support/process-cost.ts';

/** The seconds of each method for loading the same tables. The methods alternate, so that noise of the machine affects all of them. */
interface Round {
  copy: number;
  direct: number;
  oneStream: number;
  twoStreams: number;
  replay: number;
  replayWrote: boolean;
  workerCpu: number;
  postgresCpu: number;
  /** The worker's peak memory so far, in MB. Taken in the first round, after it has read only one stream. */
  memory: number;
}

export async function measureInitial(
  { bills, repeat }: { bills: number; repeat: number },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const servers = await startBenchServers(migrateDatabase);
  const warehouse = openWarehouse({ url: servers.databaseUrl, connections: 4 });
  try {
    await addBenchConnections(warehouse, servers, { names: ['one', 'two'], bills });
    const rounds: Round[] = [];
    for (let round = 1; round <= repeat; round += 1) {
      progress(`round ${round} of ${repeat}`);
      rounds.push(await measureRound(warehouse, servers, bills));
    }
    return [...summarizeRounds(rounds, bills), ...(await describeMemory(servers, rounds))];
  } finally {
    await warehouse.close();
    await servers.stop();
  }
}

export async function migrateDatabase(url: string): Promise<void> {
  const warehouse = openWarehouse({ url, connections: 2 });
  await migrate(warehouse);
  await warehouse.close();
}

async function measureRound(warehouse: Warehouse, servers: BenchServers, bills: number): Promise<Round> {
  await emptyTables(warehouse);
  const before = await readServerCpuSeconds(servers);
  const oneStream = await syncBills(servers, ['one']);
  const after = await readServerCpuSeconds(servers);
  const memory = await peakMegabytes(servers.worker.pid);
  await clearWatermarks(warehouse);
  const versions = await lastWrites(warehouse);
  const replay = await syncBills(servers, ['one']);
  const replayWrote = versions !== (await lastWrites(warehouse));
  const copy = await bareCopy(servers.databaseUrl);
  await emptyTables(warehouse);
  const direct = await landDirectly(warehouse, servers, { connection: 'one', bills });
  await emptyTables(warehouse);
  const twoStreams = await syncBills(servers, ['one', 'two']);
  return {
    copy,
    direct,
    oneStream,
    twoStreams,
    replay,
    replayWrote,
    workerCpu: after.worker - before.worker,
    postgresCpu: after.postgres - before.postgres,
    memory,
  };
}

async function readServerCpuSeconds(servers: BenchServers): Promise<{ worker: number; postgres: number }> {
  return {
    worker: await readCpuSeconds(servers.worker.pid, { withEnded: false }),
    postgres: await postgresCpuSeconds(await servers.postmasterPid()),
  };
}

function summarizeRounds(rounds: readonly Round[], bills: number): Measured[] {
  const of = (key: Exclude<keyof Round, 'replayWrote'>): number => median(rounds.map((round) => round[key]));
  const copyRate = bills / of('copy');
  const oneRate = bills / of('oneStream');
  const share = 1 - of('direct') / of('oneStream');
  return [
    { what: 'bare COPY with history, one connection', seen: perSecond(bills, of('copy')) },
    { what: 'landing without Temporal, one stream', seen: perSecond(bills, of('direct')) },
    { what: 'end to end through Temporal, one stream', seen: perSecond(bills, of('oneStream')) },
    {
      what: 'end to end, two streams (bills of two connections)',
      seen: perSecond(2 * bills, of('twoStreams')),
    },
    { what: 'replay of unchanged bills, end to end', seen: perSecond(bills, of('replay')) },
    { what: 'one stream / COPY', seen: ratio(oneRate / copyRate), target: 'at least 0.65' },
    {
      what: 'two streams / COPY',
      seen: ratio((2 * bills) / of('twoStreams') / copyRate),
      target: 'at least 1.0',
    },
    { what: 'replay / first load', seen: ratio(of('oneStream') / of('replay')), target: 'at least 2.5' },
    { what: "Temporal's share of the time", seen: `${(share * 100).toFixed(0)} %`, target: 'under 10 %' },
    {
      what: 'the replay wrote to finance or history',
      seen: rounds.some(({ replayWrote }) => replayWrote) ? 'yes' : 'no',
      target: 'no',
    },
    { what: 'CPU s per 100,000 bills, worker', seen: ((of('workerCpu') / bills) * 100_000).toFixed(1) },
    { what: 'CPU s per 100,000 bills, Postgres', seen: ((of('postgresCpu') / bills) * 100_000).toFixed(1) },
  ];
}

async function describeMemory(servers: BenchServers, rounds: readonly Round[]): Promise<Measured[]> {
  const oneStream = rounds[0]?.memory ?? Number.NaN;
  const twoStreams = await peakMegabytes(servers.worker.pid);
  return [
    {
      what: 'peak memory of the worker, one stream',
      seen: `${oneStream.toFixed(0)} MB`,
      target: 'under 400 MB',
    },
    { what: 'peak memory of the worker, two streams', seen: `${twoStreams.toFixed(0)} MB` },
  ];
}
