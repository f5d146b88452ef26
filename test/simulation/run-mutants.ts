import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { mapConcurrently } from '../../workflows/map-concurrently.ts';
import { productFolders } from '../support/product-folders.ts';
import { mutants, applyMutant, type Mutant } from './mutants.ts';
import type { Simulation } from './run-simulation.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Everything that a simulation needs besides the folders of the product. */
const copied = ['scripts', 'test', 'package.json', 'tsconfig.json'];

const brokenProgram = /^An unexpected failure: (?:Reference|Syntax|Type)Error\b/;

export interface MutantOutcome {
  readonly name: string;
  readonly file: string;
  /** The promise that the mistake broke; null if it went unnoticed. */
  readonly caughtBy: string | null;
  readonly histories: number;
  readonly seconds: number;
}

/**
 * Runs the simulation against copies of the sources with one mistake each, until the mistake is caught or its time is up. Writes nothing
 * into the checkout. Throws if a mistake no longer fits its file: the list is stale. A mistake that
 * stops the program says nothing about promises, and counts as unnoticed.
 */
export async function runMutants(input: {
  seed: number;
  /** The most for each mistake. */
  milliseconds: number;
  only?: string;
  goesOn: () => boolean;
  onOutcome?: (outcome: MutantOutcome) => void;
}): Promise<readonly MutantOutcome[]> {
  const { seed, milliseconds, only = '', goesOn, onOutcome } = input;
  const chosen = mutants.filter(({ name }) => name.includes(only));
  const outcomes = await mapConcurrently(2, chosen, async (mutant) => {
    if (!goesOn()) return [];
    const { failure, histories, seconds } = await withMutatedCopy(mutant, async (folder) =>
      runSimulationIn(folder, [
        ...['--json', '--seed', String(seed), '--for', `${Math.ceil(milliseconds / 1000)}s`],
        ...(mutant.about === undefined ? [] : ['--about', mutant.about]),
      ]),
    );
    const { name, file } = mutant;
    const stopped = failure !== null && brokenProgram.test(failure.message);
    const caughtBy = stopped ? null : (failure?.message ?? null);
    const outcome = { name, file, caughtBy, histories, seconds };
    onOutcome?.(outcome);
    return [outcome];
  });
  return outcomes.flat();
}

async function withMutatedCopy<Result>(
  mutant: Mutant,
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  return withCopyOfSources(async (folder) => {
    const path = join(folder, mutant.file);
    await writeFile(path, applyMutant(mutant, await readFile(path, 'utf8')));
    return use(folder);
  });
}

/** Lets `use` change a copy of the sources, and removes the copy afterwards. */
export async function withCopyOfSources<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-mutant-'));
  try {
    for (const part of [...(await productFolders()), ...copied])
      await cp(join(root, part), join(folder, part), { recursive: true });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runSimulationIn(folder: string, args: readonly string[]): Promise<Simulation> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/simulation/main.ts', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const line = output.trim().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) throw new Error(`A simulation ended without a result: ${errors}`);
  return JSON.parse(line) as Simulation;
}
