import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { dbtProject } from '../../marts/dbt-project.ts';
import { shownAmount } from '../../server/dashboard/amount.ts';

/** ISO 4217, list one, but for the currencies of two decimals. */
const iso = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

/** Of two decimals, though CLDR, which Intl follows, has fewer. */
const two = 'AFN ALL COP EUR HUF IDR IRR LAK LBP MGA MMK PKR SOS SYP USD YER';

const decimals = new Map(
  Object.entries({ ...iso, 2: two }).flatMap(([places, codes]) =>
    codes.split(' ').map((code) => [code, Number(places)] as const),
  ),
);

test('the marts have the decimals of ISO 4217', async () => {
  const macro = await readFile(join(dbtProject, 'macros', 'minor_units.sql'), 'utf8');
  const told = [...macro.matchAll(/in \(([^)]*)\) then (\d)/g)].map(([, codes = '', places = '']) => [
    places,
    [...codes.matchAll(/[A-Z]{3}/g)].join(' '),
  ]);
  expect(Object.fromEntries(told)).toEqual(iso);
});

test('DECISIONS.md names the decimals of ISO 4217', async () => {
  const text = (await readFile(join(dbtProject, 'DECISIONS.md'), 'utf8')).replaceAll('\n', ' ');
  expect(text).toContain(
    `0 decimals have ${iso[0]}, 3 have ${iso[3]}, 4 have ${iso[4]}, all others and none 2.`,
  );
});

test('the calculator has the decimals of ISO 4217', () => {
  const program = 'import sys; from amounts import places_of; print(*map(places_of, sys.argv[1:]))';
  const codes = [...decimals.keys()];
  const said = execFileSync('python3', ['-B', '-c', program, ...codes], {
    cwd: fileURLToPath(new URL('calculator/', import.meta.url)),
    encoding: 'utf8',
  });
  expect(said.trim()).toBe([...decimals.values()].join(' '));
});

test('the dashboard shows an amount with the decimals of ISO 4217 at least', () => {
  const shown = [...decimals.keys()].map((code) => [
    code,
    shownAmount('1200', code).split('.')[1]?.length ?? 0,
  ]);
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(decimals));
});
