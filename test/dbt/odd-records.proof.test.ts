import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestLake } from '../lake/create-test-lake.ts';
import { readParquet } from '../lake/read-parquet.ts';
import { startS3Server } from '../lake/s3-server.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildEnvironment } from './build-environment.ts';
import { martPath } from './marts-of.ts';
import { cyclicCustomers, oddBills } from './odd-records.ts';

const { warehouse, url } = await createTestDatabase();
const s3 = await startS3Server();
const { exportNow } = await createTestLake(url, { lake: s3.location });
const { home, build } = await buildEnvironment({ databaseUrl: url, lake: s3.location, env: s3.env });
const downloaded = await mkdtemp(join(tmpdir(), 'daybook-test-bucket-'));
afterAll(() => rm(downloaded, { recursive: true, force: true }));

let connectionId: string;

beforeAll(async () => {
  connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [oddBills] });
  await land(warehouse, { connectionId, stream: 'customers', pages: [cyclicCustomers] });
  await mkdir(join(home, 'seeds'), { recursive: true });
  await writeFile(join(home, 'seeds', 'connection_settings.csv'), settings());
  await exportNow();
  for (const target of ['postgres', 'lake'] as const) {
    const { code, stderr } = await build(target);
    expect(code, stderr).toBe(0);
  }
  await download();
});

/** Questions that people would ask, with the answers; the same text for both databases. */
const questions: Record<string, { mart: string; sql: string; answer: Record<string, string | null> }> = {
  'what is open today': {
    mart: 'ap_ageing',
    sql: `select currency_code as key, ${whole('total_open')} as value from {mart} where is_today group by 1`,
    answer: {
      CHF: '7.000000000',
      EUR: '1000045.010000000',
      GBP: null,
      JPY: '5000.000000000',
      KWD: '1.234000000',
      NOK: '60.000000000',
      SEK: '30.000000000',
      USD: '123456789016192.558000000',
    },
  },
  'what was open of a noisy bill, before and after its payment': {
    mart: 'ap_open_items',
    sql: `select as_of_date as key, open_amount as value from {mart}
      where document_id = 'noisy' and as_of_date between '2024-02-01' and '2024-05-01'`,
    answer: {
      '2024-02-29': '4867.080000000',
      '2024-03-31': '4867.080000000',
      '2024-04-30': '3866.780000000',
    },
  },
  'what is overdue, with a bill beside one that is not known': {
    mart: 'ap_ageing',
    sql: `select vendor_id || ' ' || currency_code as key, overdue_amount as value from {mart}
      where is_today and vendor_id in ('vendor-3', 'vendor-4')`,
    answer: {
      'vendor-3 USD': '3866.780000000',
      'vendor-4 CHF': '7.000000000',
      'vendor-4 GBP': null,
      'vendor-4 SEK': '30.000000000',
    },
  },
  'how many amounts are not known': {
    mart: 'ap_ageing',
    sql: `select currency_code as key, sum(unknown_count) as value from {mart} where is_today and unknown_count > 0 group by 1`,
    answer: { GBP: '1' },
  },
  'what has to be paid when': {
    mart: 'cash_requirements',
    sql: `select currency_code || ' ' || due_bucket as key,
        coalesce(cast(amount_due as varchar), 'not known') || ' and ahead ' || cast(dated_ahead as varchar) as value
      from {mart} where currency_code in ('GBP', 'NOK')`,
    answer: {
      'GBP overdue': 'not known and ahead 0.000000000',
      'NOK later': '0.000000000 and ahead 70.000000000',
      'NOK overdue': '60.000000000 and ahead 0.000000000',
    },
  },
  'open bills at the end of a month': {
    mart: 'ap_kpis_monthly',
    sql: `select currency_code as key, open_ap_end as value from {mart}
      where not is_complete and currency_code in ('CHF', 'GBP', 'NOK', 'SEK')`,
    answer: { CHF: '7.000000000', GBP: null, NOK: '60.000000000', SEK: '30.000000000' },
  },
  'where bills stand today': {
    mart: 'bills',
    sql: `select bill_id as key, coalesce(cast(open_amount as varchar), 'not known') || case when is_open then ' open' else '' end
        || case when is_overdue then ' overdue' else '' end || case when is_dated_ahead then ' ahead' else '' end as value
      from {mart} where bill_id in ('noisy', 'post-dated', 'dated-ahead', 'due-too-large', 'zero')`,
    answer: {
      'dated-ahead': '0.000000000 ahead',
      'due-too-large': 'not known open overdue',
      noisy: '3866.780000000 open overdue',
      'post-dated': '60.000000000 open overdue',
      zero: '0.000000000',
    },
  },
  'what was spent': {
    mart: 'vendor_spend_monthly',
    sql: `select currency_code as key, ${whole('spend')} as value from {mart} group by 1`,
    answer: {
      CHF: null,
      EUR: '1000045.010000000',
      GBP: '9.000000000',
      JPY: '5000.000000000',
      KWD: '1.234000000',
      NOK: '60.000000000',
      SEK: null,
      USD: '123456789017192.881456789',
    },
  },
  'what was spent on an account': {
    mart: 'spend_by_dimension_monthly',
    sql: `select dimension_id as key, ${whole('spend')} as value from {mart}
      where currency_code = 'SEK' and dimension = 'account' group by 1`,
    answer: { '(none)': null, 'account-2': '20.000000000', 'account-3': null },
  },
  'the bills in the base currency': {
    mart: 'bills',
    sql: `select bill_id as key, total_amount_base as value from {mart}`,
    answer: {
      'beside-it': null,
      'dated-ahead': null,
      dinar: '4.010000000',
      'due-too-large': null,
      'eighteen-digits': '123456789012345.678000000',
      'line-beyond-the-lake': null,
      'long-rate': '1123456.800000000',
      negative: '-30.000000000',
      noisy: '4867.080000000',
      'novel-status': '20.000000000',
      'post-dated': null,
      rateless: null,
      'ten-decimals': '0.123456789',
      'too-large': null,
      'too-long-rate': '5.620000000',
      undated: '10.000000000',
      yen: '32.000000000',
      zero: '0.000000000',
    },
  },
  'what is null because it does not fit': {
    mart: 'bills',
    sql: `select bill_id as key, total_amount as value from {mart} where has_unfit_amount`,
    answer: { 'due-too-large': '1.000000000', 'line-beyond-the-lake': '30.000000000', 'too-large': null },
  },
  'where a bill stands': {
    mart: 'bills',
    sql: `select bill_id as key, posting_status || ' ' || fx_status as value from {mart} where bill_id in ('novel-status', 'rateless', 'yen')`,
    answer: {
      'novel-status': 'unknown base_currency',
      rateless: 'posted missing_rate',
      yen: 'posted document_rate',
    },
  },
  'the names of vendors': {
    mart: 'vendors',
    sql: `select vendor_id as key, vendor_name as value from {mart}`,
    answer: {
      '(none)': '(none)',
      'vendor-1': 'Vendor vendor-1',
      'vendor-2': 'Acme, Inc.',
      'vendor-3': 'Vendor vendor-3',
      'vendor-4': 'Vendor vendor-4',
    },
  },
  'the top of a circle of parents': {
    mart: 'customers',
    sql: `select customer_id as key, top_parent_id as value from {mart} where has_cyclic_parents`,
    answer: { x: null, y: null },
  },
  'what is odd': {
    mart: 'data_quality',
    sql: `select check_name || ': ' || sample_ids as key, failed_rows as value from {mart} where failed_rows > 0`,
    answer: {
      'amount_does_not_fit: due-too-large, line-beyond-the-lake, too-large': '3',
      'amount_due_unexplained: ten-decimals': '1',
      'amount_rounded: noisy, ten-decimals, too-long-rate': '3',
      'bill_status_incoherent: ten-decimals': '1',
      'cyclic_customer_parents: x, y': '2',
      'date_out_of_range: dated-ahead': '1',
      'negative_bill: negative': '1',
      'no_due_date: undated': '1',
      'no_issue_date: undated': '1',
      'spend_in_future: dated-ahead': '1',
      'unconverted_bill: beside-it, dated-ahead, due-too-large, line-beyond-the-lake, post-dated': '7',
      'unknown_bill_status: novel-status': '1',
    },
  },
};

test.each(Object.keys(questions))(
  'odd records give the expected answer to "%s", in Postgres and in a bucket',
  async (question) => {
    const { mart, sql, answer } = questions[question] ?? { mart: '', sql: '', answer: {} };
    const inPostgres = sql.replace('{mart}', `marts.${mart}`);
    expect(asRecord(await rows(warehouse, `select key, value::text from (${inPostgres}) as asked`))).toEqual(
      answer,
    );
    const inBucket = sql.replace('{mart}', `'${await martPath(downloaded, mart)}'`);
    expect(
      asRecord(
        await readParquet(downloaded, `select key, value::varchar as value from (${inBucket}) as asked`),
      ),
    ).toEqual(answer);
  },
);

test('the templates of vendor and account names list those with the most spend first', async () => {
  const template = async (seed: string): Promise<string> =>
    readFile(join(home, 'seeds', `${seed}.template.csv`), 'utf8');
  expect(await template('vendor_names')).toBe(
    `connection_id,vendor_id,vendor_name\n${connectionId},vendor-1,\n${connectionId},vendor-3,\n${connectionId},vendor-4,\n${connectionId},vendor-2,"Acme, Inc."\n`,
  );
  expect(await template('account_map')).toBe(
    `connection_id,account_id,account_name,account_type\n${connectionId},account-2,,\n${connectionId},account-1,,\n${connectionId},account-3,,\n`,
  );
  expect(await readFile(join(home, 'seeds', 'connection_settings.csv'), 'utf8')).toBe(settings());
});

/** Sums as a careful reader does: null if a part is null. */
function whole(column: string): string {
  return `case when count(*) = count(${column}) then sum(${column}) end`;
}

function settings(): string {
  return `connection_id,base_currency,fx_direction\n${connectionId},USD,multiply\n`;
}

function asRecord(found: readonly Record<string, unknown>[]): Record<string, unknown> {
  return Object.fromEntries(found.map(({ key, value }) => [String(key), value]));
}

async function download(): Promise<void> {
  const prefix = 'some/prefix/';
  const { Contents = [] } = await s3.client.send(
    new ListObjectsV2Command({ Bucket: s3.bucket, Prefix: prefix }),
  );
  for (const { Key = '' } of Contents) {
    if (!/latest-marts\.json|\/marts\//.test(Key)) continue;
    const { Body } = await s3.client.send(new GetObjectCommand({ Bucket: s3.bucket, Key }));
    const file = join(downloaded, Key.slice(prefix.length));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, (await Body?.transformToByteArray()) ?? '');
  }
}
