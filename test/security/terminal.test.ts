import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { visible, visibleInCell } from '../../server/frame/visible.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { row } from '../support/rows.ts';
import { sync } from '../support/sync.ts';

const installation = await createInstallation();
const { admin, run, warehouse } = installation;

/** Clears the screen, sets a title, makes the terminal type an answer, begins a C1 sequence, reverses the direction, forges a line. */
const hostile =
  '\u001b[2J\u001b]0;planted\u0007\u001b[6n\u009b31m\u202egnp.exe\u200e\u061c\r\n(1 row) forged \u2066x\u007f';
const id = `b\u001b[31m\u009b1m`;
let connection: string;

beforeAll(async () => {
  connection = await installation.connect({ records: 50 });
  const memo = JSON.stringify(hostile);
  await admin.execute(
    { kind: 'add', connection, resource: 'bills', record: bill(id, { memo }) },
    {
      kind: 'add',
      connection,
      resource: 'bills',
      record: bill(`${id}-bad`, { memo, amount_due: '"not a number"', subsidiary_id: `[${memo}]` }),
    },
  );
  await installation.startWorker();
  await sync(installation, connection).catch(() => undefined);
  await eventually(async () => (await row(warehouse, 'select count(*)::int as n from sync.quarantine')).n);
  await warehouse.pool.query(
    `insert into sync.discrepancies (connection_id, resource, record_id, kind, status, run_id, found_at)
     values ($1, 'bills', $2, 'stale', 'repaired', 'r', now())`,
    [connection, id],
  );
});

test.each([
  ['sql', ['sql', 'select id, memo, memo as "\u001b[31m" from finance.bills where memo like \'%planted%\'']],
  ['an error of sql', ['sql', `select '${hostile.replaceAll('\n', '')}'::int`]],
  ['quarantine list', ['quarantine', 'list']],
  ['quarantine show', ['quarantine', 'show', '1']],
  ['discrepancies', ['discrepancies']],
  ['a command line that is wrong', ['sync', 'x', `--\u001b[31m${hostile}`]],
  ['an unknown command', [`\u009b${hostile}`]],
])('text from records, services and arguments never controls the terminal: %s', async (_, args) => {
  const { stdout, stderr } = await run(args);
  expect(stdout + stderr).toMatch(/\\u001b|\\u009b/);
  // Line ends and tabs are kept.
  expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
  expect(stdout).not.toMatch(/^\(1 row\) forged/m);
});

test('--json prints exactly the stored text, escaped so that it is harmless', async () => {
  const { stdout } = await run(['sql', `select memo from finance.bills where id like 'b%1m'`, '--json']);
  expect(JSON.parse(stdout)).toEqual([{ memo: hostile }]);
  expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
});

test('--csv prints the stored text unchanged, for another program', async () => {
  const { stdout } = await run(['sql', `select memo from finance.bills where id like 'b%1m'`, '--csv']);
  expect(stdout).toBe(`memo\n"${hostile}"\n`);
});

test('--csv has no cell that a spreadsheet runs, and numbers stay numbers', async () => {
  const query = `select * from (values
    ('=cmd|''/c calc''!A1', '+1+1', '-2+3', '@sum(1)', -1.50, '-1.50', '+49', '-1e5'),
    (E'\\t=1', '+49 30 1', '- note', 'a=b', -1e30, '', '-', E'\\r=1')) as v(a, b, c, d, e, f, g, h)`;
  const { stdout } = await run(['sql', query, '--csv']);
  expect(stdout.trimEnd().split('\n').slice(1)).toEqual([
    `'=cmd|'/c calc'!A1,'+1+1,'-2+3,'@sum(1),-1.50,-1.50,+49,-1e5`,
    `'\t=1,'+49 30 1,'- note,a=b,-1000000000000000000000000000000,"",'-,"'\r=1"`,
  ]);
});

test('any text becomes harmless to the terminal once visible, and JSON keeps its meaning', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('\u001b', '\u009b', '\u0007', '\u202e', '\n', '\r', '\t', '\\', '"'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
  });
  fc.assert(
    fc.property(text, (value) => {
      expect(visible(value)).not.toMatch(/[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
      expect(visibleInCell(value)).not.toMatch(
        /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u,
      );
      expect(JSON.parse(visible(JSON.stringify({ value }, null, 2)))).toEqual({ value });
    }),
  );
});
