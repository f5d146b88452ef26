import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import getPort from 'get-port';
import pg from 'pg';
import { to } from 'pg-copy-streams';
import { runExportProcess } from '../activities/export/run-export-process.ts';
import { startPostgres } from '../embedded/postgres.ts';
import { codeOf } from '../errors/code-of.ts';
import { snapshotId } from '../lake/manifest/snapshot-id.ts';
import { migrateDatabase } from './initial.ts';
import { growth, median, perSecond, ratio, type Measured } from './measured.ts';

export interface ExportMeasurement {
  rows: number;
  /** The size of the whole snapshot, and of the files written for it. */
  bytes: number;
  bytesWritten: number;
  seconds: number;
  megabytes: number;
}

/** Exports bills and their lines as a worker does, and compares it with bare COPY of the same tables: first few rows, then many. */
export async function measureExport(
  { rows, repeat }: { rows: number; repeat: number },
  progress: (text: string) => void,
): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'daybook-bench-'));
  const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), port: await getPort() });
  try {
    await migrateDatabase(postgres.url);
    await fillBills(postgres.url, { rows: Math.min(100_000, rows) });
    const few = await exportOnce(postgres.url, folder);
    progress(`few: ${few.rows} rows in ${few.seconds.toFixed(1)} s`);
    await fillBills(postgres.url, { rows });
    const exports: ExportMeasurement[] = [];
    const copies: number[] = [];
    for (let turn = 0; turn < repeat; turn += 1) {
      copies.push(await bareCopyOut(postgres.url));
      exports.push(await exportOnce(postgres.url, folder));
      progress(
        `${turn + 1}: COPY ${copies.at(-1)?.toFixed(1) ?? ''} s, export ${exports.at(-1)?.seconds.toFixed(1) ?? ''} s`,
      );
    }
    return figures({ few, exports, copies });
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function figures({
  few,
  exports,
  copies,
}: {
  few: ExportMeasurement;
  exports: readonly ExportMeasurement[];
  copies: readonly number[];
}): Measured[] {
  const seconds = median(exports.map((one) => one.seconds));
  const copySeconds = median(copies);
  const peak = Math.max(...exports.map(({ megabytes }) => megabytes));
  const count = exports[0]?.rows ?? 0;
  return [
    { what: `export of ${count.toLocaleString('en-US')} rows`, seen: perSecond(count, seconds) },
    { what: 'bare COPY of the same tables', seen: perSecond(count, copySeconds) },
    { what: 'export against bare COPY', seen: ratio(copySeconds / seconds), target: '0.80 or more' },
    {
      what: `peak memory at ${few.rows.toLocaleString('en-US')} rows`,
      seen: `${few.megabytes.toFixed(0)} MB`,
    },
    { what: 'peak memory at the end', seen: `${peak.toFixed(0)} MB` },
    { what: 'growth of the memory', seen: growth(few.megabytes, peak), target: 'under 10 %' },
  ];
}

/** Creates one bill for every two lines. Bills of a connection lie together, as a first load leaves them. */
export async function fillBills(
  url: string,
  { rows, connections = 4 }: { rows: number; connections?: number },
): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('truncate finance.bills, finance.bill_lines');
  await client.query(
    `insert into finance.bills (connection_id, id, platform_id, account_id, vendor_id, due_date, issue_date, amount_due,
       currency_code, status, total_amount, document_number, memo, sub_total, tax_amount, currency_rate, created_at, updated_at,
       last_synced_at, _run_id, _first_seen_at, _changed_at, _content_hash)
     select 'co-' || (i - 1) * $2 / ($1::bigint / 3), gen_random_uuid(), 'p-' || i, gen_random_uuid(), 'vendor-' || i % 1000,
       date '2024-01-01' + (i * 7919 % 900)::int, date '2023-12-01' + (i * 7919 % 900)::int, (i % 100000) / 100.0, 'USD', 'open',
       (i % 100000) / 100.0, 'INV-' || i, 'memo of bill ' || i, (i % 100000) / 125.0, (i % 100000) / 1000.0, 1.0812, now(),
       now(), now(), gen_random_uuid(), now(), now(), '\\x00'
     from generate_series(1, $1::bigint / 3) i`,
    [rows, connections],
  );
  await client.query(
    `insert into finance.bill_lines (connection_id, bill_id, position, account_id, description, sub_total, tax_amount,
       total_amount, item_id, item_quantity, item_unit_amount)
     select connection_id, id, p, account_id, 'line of a bill', sub_total, tax_amount, total_amount, 'item-' || p, 4, 25.0625
     from finance.bills, generate_series(0, 1) p`,
  );
  await client.query('vacuum analyze finance.bills');
  await client.query('vacuum analyze finance.bill_lines');
  await client.end();
}

/** Returns seconds. */
async function bareCopyOut(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const started = performance.now();
  for (const table of ['finance.bills', 'finance.bill_lines']) {
    const nowhere = new Writable({
      write: (_chunk, _encoding, done) => {
        done();
      },
    });
    await pipeline(client.query(to(`copy ${table} to stdout`)), nowhere);
  }
  const seconds = (performance.now() - started) / 1000;
  await client.end();
  return seconds;
}

/** Exports into a temporary lake of its own. */
async function exportOnce(databaseUrl: string, folder: string): Promise<ExportMeasurement> {
  const lake = path.join(folder, `lake-${randomBytes(8).toString('hex')}`);
  const once = await exportTo(lake, { databaseUrl, folder });
  await rm(lake, { recursive: true });
  return once;
}

export async function exportTo(
  lake: string,
  { databaseUrl, folder }: { databaseUrl: string; folder: string },
): Promise<ExportMeasurement> {
  const runId = randomBytes(8).toString('hex');
  const memory = watchMemory();
  const started = performance.now();
  const exported = await runExportProcess(
    {
      databaseUrl,
      databaseConnections: 3,
      lake,
      scratch: path.join(folder, 'scratch'),
      runId,
      keep: { last: 1, daily: 0, monthEnds: false },
      productVersion: 'bench',
      warehouseId: 'bench',
      snapshotId: snapshotId({ runId, startedAt: new Date() }),
    },
    { signal: new AbortController().signal, onProgress: () => undefined },
  );
  const seconds = (performance.now() - started) / 1000;
  const { rows, bytes, bytesWritten = bytes } = exported;
  return { rows, bytes, bytesWritten, seconds, megabytes: memory.stop() };
}

/** Watches the peak memory of the export process, in MB, as counted by the kernel. */
function watchMemory(): { stop: () => number } {
  let peak = 0;
  const look = setInterval(() => {
    for (const pid of listChildren(process.pid)) peak = Math.max(peak, readPeakMegabytes(pid));
  }, 100);
  return {
    stop: () => {
      clearInterval(look);
      return peak;
    },
  };
}

function listChildren(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
      .split(' ')
      .filter((child) => child !== ''),
  );
}

function readPeakMegabytes(pid: string): number {
  try {
    if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('export-process')) return 0;
    const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  } catch (error) {
    // The process has just ended.
    if (['ENOENT', 'ESRCH'].includes(String(codeOf(error)))) return 0;
    throw error;
  }
}
