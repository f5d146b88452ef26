import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { dbtProject } from '../../marts/dbt-project.ts';
import { shownAmount } from '../../server/dashboard/amount.ts';

/** ISO 4217, list one, and the currencies that it has replaced recently. */
const iso = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2:
    'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP ' +
    'BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR ' +
    'FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR ' +
    'KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR ' +
    'MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK ' +
    'SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN ' +
    'UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG ZWL',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const decimals = new Map(
  Object.entries(iso).flatMap(([places, codes]) =>
    codes.split(' ').map((code) => [code, Number(places)] as const),
  ),
);

test('the marts have the decimals of ISO 4217', async () => {
  const macro = await readFile(join(dbtProject, 'macros', 'minor_units.sql'), 'utf8');
  const parsed = [...macro.matchAll(/in \(([^)]*)\) then (\d)/g)].map(([, codes = '', places = '']) => [
    places,
    [...codes.matchAll(/[A-Z]{3}/g)].join(' '),
  ]);
  expect(Object.fromEntries(parsed)).toEqual(iso);
});

test('DECISIONS.md names the decimals of ISO 4217', async () => {
  const text = (await readFile(join(dbtProject, 'DECISIONS.md'), 'utf8')).replaceAll('\n', ' ');
  expect(text).toContain(
    `0 decimals have ${iso[0]}, 3 have ${iso[3]}, 4 have ${iso[4]}, and the other currencies of ISO 4217 have 2.`,
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

test('a code without minor units keeps all its decimals', () => {
  expect(shownAmount('0.0049', 'XAU')).toBe('0.0049');
  expect(shownAmount('1200', 'BTC')).toBe('1,200');
});

test('the dashboard shows an amount with at least the decimals of ISO 4217', () => {
  const shown = [...decimals.keys()].map((code) => [
    code,
    shownAmount('1200', code).split('.')[1]?.length ?? 0,
  ]);
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(decimals));
});
