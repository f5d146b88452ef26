import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { zeroPlayCounts, type PlayCounts } from './play-counts.ts';
import type { Simulation } from './run-simulation.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Runs simulations side by side, each in a process with its own seed, and returns their combined result. When one finds a broken promise,
 * the others end with their current history.
 */
export async function runJobs(input: {
  seeds: readonly number[];
  /** The arguments of each process besides its seed. */
  args: readonly string[];
  onProgress: (line: string) => void;
}): Promise<Simulation> {
  const { seeds, args, onProgress } = input;
  const children = seeds.map((seed) =>
    spawn(
      process.execPath,
      ['--import', 'tsx', 'test/simulation/main.ts', ...args, '--json', '--seed', String(seed)],
      {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    ),
  );
  const simulations = await Promise.all(
    children.map(async (child, place) => {
      const stderrLines: string[] = [];
      createInterface({ input: child.stderr }).on('line', (line) => {
        stderrLines.push(line);
        onProgress(`${seeds[place] ?? ''}: ${line}`);
      });
      const output = (await text(child.stdout)).trim().split('\n').at(-1) ?? '';
      if (!output.startsWith('{'))
        throw new Error(`A simulation ended without a result: ${stderrLines.join('\n')}`);
      const simulation = JSON.parse(output) as Simulation;
      if (simulation.failure !== null)
        for (const other of children) if (other !== child) other.kill('SIGINT');
      return simulation;
    }),
  );
  return combineSimulations(simulations);
}

function combineSimulations(simulations: readonly Simulation[]): Simulation {
  const played = zeroPlayCounts();
  for (const simulation of simulations)
    for (const name of Object.keys(played) as (keyof PlayCounts)[]) played[name] += simulation.played[name];
  return {
    histories: simulations.reduce((sum, { histories }) => sum + histories, 0),
    seconds: Math.max(...simulations.map(({ seconds }) => seconds)),
    played,
    failure: simulations.map(({ failure }) => failure).find((failure) => failure !== null) ?? null,
  };
}
