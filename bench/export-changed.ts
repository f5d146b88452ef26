import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import getPort from 'get-port';
import pg from 'pg';
import { startPostgres } from '../embedded/postgres.ts';
import { exportTo, fillBills, type ExportMeasurement } from './export.ts';
import { migrateDatabase } from './initial.ts';
import { median, ratio, type Measured } from './measured.ts';

/**
 * Exports bills and their lines three times: in full, after a few changes, and after none. The changes are one bill in 1 % of the connections or,
 * with fewer than a hundred connections, three bills of one.
 */
export async function measureExportChanged(
  { rows, connections, repeat }: { rows: number; connections: number; repeat: number },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'daybook-bench-'));
  const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), port: await getPort() });
  const databaseUrl = postgres.url;
  try {
    await migrateDatabase(databaseUrl);
    await fillBills(databaseUrl, { rows, connections });
    const once = async (what: string, lake: string): Promise<ExportMeasurement> => {
      const measured = await exportTo(path.join(folder, lake), { databaseUrl, folder });
      progress(
        `${what}: ${measured.seconds.toFixed(1)} s, ${(measured.bytesWritten / 1e6).toFixed(1)} of ${(measured.bytes / 1e6).toFixed(1)} MB written`,
      );
      return measured;
    };
    const [full, changed, same]: [ExportMeasurement[], ExportMeasurement[], ExportMeasurement[]] = [
      [],
      [],
      [],
    ];
    for (let turn = 0; turn < repeat; turn += 1) {
      full.push(await once('full', `lake-${turn}`));
      await changeFew(databaseUrl, { turn, connections });
      changed.push(await once('a few changed', `lake-${turn}`));
      same.push(await once('nothing changed', `lake-${turn}`));
      await rm(path.join(folder, `lake-${turn}`), { recursive: true });
    }
    return figures({ connections, full, changed, same });
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function figures({
  connections,
  full,
  changed,
  same,
}: {
  connections: number;
  full: ExportMeasurement[];
  changed: ExportMeasurement[];
  same: ExportMeasurement[];
}): Measured[] {
  const medianSeconds = (ones: readonly ExportMeasurement[]): number =>
    median(ones.map(({ seconds }) => seconds));
  const share = median(changed.map(({ bytes, bytesWritten }) => bytesWritten / bytes));
  const count = full[0]?.rows.toLocaleString('en-US') ?? '';
  return [
    { what: `full export of ${count} rows`, seen: `${medianSeconds(full).toFixed(1)} s` },
    {
      what: connections < 100 ? 'three bills of one connection changed' : '1 % of the connections changed',
      seen: `${medianSeconds(changed).toFixed(1)} s`,
    },
    {
      what: 'the same, of the full export',
      seen: ratio(medianSeconds(changed) / medianSeconds(full)),
      target: '0.05 or less',
    },
    { what: 'bytes written, of all', seen: ratio(share), target: '0.05 or less' },
    { what: 'nothing changed', seen: `${medianSeconds(same).toFixed(1)} s`, target: 'under 1 s' },
  ];
}

/** Changes bills and their lines, in transactions that name the connection, as landings do. */
async function changeFew(
  url: string,
  { turn, connections }: { turn: number; connections: number },
): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  const hundredth = Array.from({ length: Math.ceil((connections - turn) / 100) }, (_, index) => ({
    connection: `co-${turn + 100 * index}`,
    bills: 1,
  }));
  for (const { connection, bills } of connections < 100 ? [{ connection: 'co-0', bills: 3 }] : hundredth) {
    await client.query('begin');
    await client.query(
      `insert into sync.resource_clocks (connection_id, resource, landed_at) values ($1, 'bills', clock_timestamp())
       on conflict do nothing`,
      [connection],
    );
    await client.query(`select set_config('daybook.landing', 'bills/' || $1, true)`, [connection]);
    for (const [table, id] of [
      ['bills', 'id'],
      ['bill_lines', 'bill_id'],
    ] as const)
      await client.query(
        `update finance.${table} set total_amount = total_amount + 1
         where connection_id = $1 and ${id} in (select id from finance.bills where connection_id = $1 order by md5(id) limit $2)`,
        [connection, bills],
      );
    await client.query('commit');
  }
  await client.end();
}
