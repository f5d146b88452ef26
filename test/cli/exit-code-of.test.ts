import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { UsageError } from '../../cli/errors.ts';
import { exitCodeOf } from '../../cli/exit-code-of.ts';
import { ConfigurationError } from '../../config/configuration-error.ts';
import { HomeUnusable } from '../../embedded/home.ts';
import { ForeignHome } from '../../embedded/require-own-home.ts';
import {
  JavaMissing,
  NoIcebergSnapshot,
  NoOwnConnection,
  NoSnapshot,
  SparkBehindPooler,
} from '../../marts/errors.ts';
import { NamespaceNotOurs } from '../../operations/ownership/namespace-not-ours.ts';
import { ForeignFolder, PythonMissing } from '../../python/errors.ts';
import { UnknownResource } from '../../resources/unknown-resource.ts';
import { HttpAddressUnusable } from '../../server/start-http-server.ts';
import {
  ForeignSchema,
  KeyRotated,
  MigrationRefused,
  SchemaOutdated,
  UnknownConnection,
  WrongSecretKey,
} from '../../warehouse/errors.ts';
import { MartsMissing } from '../../warehouse/marts/in-one-build.ts';
import { DirectUrlElsewhere } from '../../warehouse/ownership/check-addresses.ts';
import { UnknownReader } from '../../warehouse/readers/remove-reader.ts';
import { PoolerUnfit } from '../../warehouse/session/check-pooler.ts';

const usage: readonly Error[] = [
  new UsageError('No such option.'),
  new ConfigurationError(['DATABASE_URL is not a URL.']),
  new WrongSecretKey(),
  new KeyRotated(),
  new NamespaceNotOurs('It belongs to another warehouse.'),
  new SchemaOutdated({ missing: ['2026-01-01-first'], hasWarehouse: true }),
  new PoolerUnfit('DATABASE_URL', 'that allows no transactions'),
  new DirectUrlElsewhere(),
  new MigrationRefused('Postgres is too old.'),
  new ForeignSchema(['staging']),
  new JavaMissing(undefined),
  new NoIcebergSnapshot('/lake'),
  new SparkBehindPooler(),
  new PythonMissing(undefined, { who: 'The marts', again: 'daybook dbt build' }),
  new NoSnapshot('/lake'),
  new NoOwnConnection('sandbox'),
  new MartsMissing(new Error('no such table')),
  new UnknownResource(['invoices'], ['bills']),
  new ForeignHome('It belongs to another user.'),
  new HomeUnusable('/proc/home', 'ENOENT'),
  new HttpAddressUnusable({ host: '192.0.2.1', port: 80 }, new Error('no such address')),
  new ForeignFolder('It belongs to another user.'),
];

test.each(usage.map((error) => [error.name, error] as const))(
  'a command that throws %s exits with 2',
  (_, error) => {
    expect(exitCodeOf(error)).toBe(2);
  },
);

const failures: readonly Error[] = [
  new UnknownConnection('acme'),
  new UnknownReader('analyst'),
  new Error('The disk is full.'),
];

test.each(failures.map((error) => [error.name, error] as const))(
  'a command that throws %s exits with 1',
  (_, error) => {
    expect(exitCodeOf(error)).toBe(1);
  },
);

test('what is not an error, such as a text, exits with 1 too', () => {
  expect(['failed', undefined, { isUsage: true }].map(exitCodeOf)).toEqual([1, 1, 1]);
});

test("Commander's error exits with 2, its help with 0", () => {
  expect(exitCodeOf(new CommanderError(1, 'commander.unknownOption', 'unknown option'))).toBe(2);
  expect(exitCodeOf(new CommanderError(0, 'commander.help', '(outputHelp)'))).toBe(0);
});
