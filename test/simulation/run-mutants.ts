import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Place } from './in-place.ts';
import { mutants, type Mutant } from './mutants.ts';
import type { Simulation } from './run-simulation.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Whatever a simulation needs of the sources. */
const copied = [
  ...['activities', 'embedded', 'lake', 'resources', 'sandbox', 'scripts', 'source', 'test', 'warehouse'],
  ...['worker', 'workflows', 'package.json', 'tsconfig.json'],
];

/**
 * Runs the simulation against a copy of the sources with one mistake after the other in it, each until it is caught or its time is
 * up. Nothing is written into the checkout. Throws when a mistake can no longer be made: the list is stale.
 */
export async function runMutants(
  place: Pick<Place, 'createDatabase'>,
  input: {
    seed: number;
    /** For each, at most. */
    milliseconds: number;
    only?: string;
    goesOn: () => boolean;
    report: (line: string) => void;
  },
): Promise<{ survivors: number }> {
  const { seed, milliseconds, only = '', goesOn, report } = input;
  const folder = await mkdtemp(join(tmpdir(), 'daybook-mutants-'));
  let survivors = 0;
  try {
    for (const name of copied) await cp(join(root, name), join(folder, name), { recursive: true });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    report('| mistake | caught after | by |\n|---|---|---|');
    for (const mutant of mutants.filter(({ name }) => name.includes(only))) {
      if (!goesOn()) break;
      const database = await place.createDatabase();
      const { failure, histories, seconds } = await runMutant(folder, mutant, {
        seed,
        milliseconds,
        database,
      });
      if (failure === null) survivors += 1;
      const caught =
        failure === null ? `NOT CAUGHT in ${histories} histories` : `${seconds} s, ${histories} histories`;
      report(`| ${mutant.name} | ${caught} | ${failure?.message ?? ''} |`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { survivors };
}

async function runMutant(
  folder: string,
  { name, file, find, replace }: Mutant,
  { seed, milliseconds, database }: { seed: number; milliseconds: number; database: string },
): Promise<Simulation> {
  const path = join(folder, file);
  const right = await readFile(path, 'utf8');
  if (right.split(find).length !== 2)
    throw new Error(`The list of mutants is stale: "${name}" does not fit ${file}.`);
  // A function, so that nothing in the text means something to replace().
  await writeFile(
    path,
    right.replace(find, () => replace),
  );
  try {
    return await play(folder, [
      '--json',
      '--seed',
      String(seed),
      '--for',
      `${Math.ceil(milliseconds / 1000)}s`,
      '--database',
      database,
    ]);
  } finally {
    await writeFile(path, right);
  }
}

async function play(folder: string, args: readonly string[]): Promise<Simulation> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/simulation/main.ts', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const line = output.trim().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) throw new Error(`A simulation ended without a result: ${errors}`);
  return JSON.parse(line) as Simulation;
}
