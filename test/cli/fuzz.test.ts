import type { Command, Option } from 'commander';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import { createInstallation } from '../support/installation.ts';
import { isProof } from '../support/proof-test.ts';
import { outcomesOf, type Outcome } from './outcomes-of.ts';

const installation = await createInstallation();
const runs = { numRuns: Number(process.env.TEST_FUZZ ?? (isProof ? 200 : 70)), seed: 20_261_122 };

test('any command line succeeds, or says in a sentence what is wrong and exits with 1 or 2', async () => {
  await installation.connect({ name: 'acme', records: 50 });
  const typed = [...found, ...fc.sample(commandLine(), runs)];
  const { cwd, env } = installation;
  // No marts are built without Python.
  const outcomes = await outcomesOf(typed, { cwd, env: { PATH: cwd, HOME: cwd, ...env } });
  expect(outcomes.filter((outcome) => !isWell(outcome))).toEqual([]);
  expect(outcomes).toHaveLength(typed.length);
});

/** Command lines that failed once. */
const found = [
  ['sandbox', '--records', '5'],
  ['sandbox', '--port', '99999'],
  ['up', '--records', '99'],
];

function isWell({ exitCode, said, seconds }: Outcome): boolean {
  if (seconds > 10 || looksLikeADefect.test(said)) return false;
  return exitCode === 0 || ([1, 2].includes(exitCode) && /\S/.test(said));
}

const looksLikeADefect =
  /^\s+at .*[(/]|\b(Type|Range|Syntax|Reference|Zod|URI)Error\b|"origin": |invalid input syntax|\bundefined\b|\[object /m;

/** A command line with the words that a command takes, or sometimes with any number of words. */
function commandLine(): fc.Arbitrary<string[]> {
  return fc.constantFrom(...commandsOf(createProgram(() => undefined))).chain(({ path, command }) => {
    const { registeredArguments } = command;
    // Such an export waits for the running one, and no worker runs here.
    const options = command.options.filter(({ long }) => long !== '--force' && long !== '--iceberg');
    const expected = fc.tuple(...registeredArguments.filter(({ required }) => required).map(word));
    const others = fc.array(word(), { maxLength: 3 });
    const given = fc.array(fc.oneof(fc.constant([]), ...options.map(optionOf)), { maxLength: 4 });
    const needed = fc.tuple(...options.filter(({ mandatory }) => mandatory).map(optionOf));
    const last = options.some(({ long }) => long === '--no-wait') ? ['--no-wait'] : [];
    return fc
      .tuple(fc.oneof({ weight: 4, arbitrary: expected }, { weight: 1, arbitrary: others }), given, needed)
      .map(([words, some, all]) => [...path, ...words, ...[...some, ...all].flat(), ...last]);
  });
}

/** All commands except those that run until they are stopped, and psql. */
function commandsOf(
  command: Command,
  path: readonly string[] = [],
): { path: readonly string[]; command: Command }[] {
  const endless = ['up', 'tour', 'worker', 'serve', 'sandbox', 'psql'];
  return command.commands
    .filter((sub) => !endless.includes(sub.name()))
    .flatMap((sub) => {
      const here = [...path, sub.name()];
      return sub.commands.length > 0 ? commandsOf(sub, here) : [{ path: here, command: sub }];
    });
}

function optionOf({ long, required, optional }: Option): fc.Arbitrary<string[]> {
  const value = required || optional ? word().map((one) => [one]) : fc.constant([]);
  return value.map((words) => [long ?? '', ...words]);
}

/** A word that is no path out of the folder, because a command may write wherever it is told to. */
function word(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string({ unit: 'binary' }).map(withoutPath),
    fc.string().map(withoutPath),
    fc.constantFrom(
      ...['acme', 'bills', '1', '0', '-1', '7', '999999999', '99999999999999999999', '1e400', 'NaN', '', ' '],
      ...['--', '-', '__proto__', 'constructor', '..', '\ud800', 'a'.repeat(5_000), 'select 1'],
      ...['7d', '0s', '1h', 'off', '999999999d', '2024-01-01', '2024-02-30', '2025-01-01T00:00:00Z'],
      ...['0000-00-00', '+275761-01-01', '292277026596-01-01', '20260101T000000Z-aaaaaa'],
      "'; drop table sync.connections; --",
    ),
  );
}

/** Also removes NUL, which an argument cannot contain. */
function withoutPath(text: string): string {
  return text.replaceAll(/[\0/]/g, '');
}
