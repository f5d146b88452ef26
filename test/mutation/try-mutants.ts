import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mapConcurrently } from '../../workflows/map-concurrently.ts';
import { withPostgres } from '../simulation/with-postgres.ts';
import { withCopyOfSources } from '../simulation/run-mutants.ts';
import { checkCopy, type Caught } from './check-copy.ts';
import { checksInOrder } from './checks.ts';
import { dropTestDatabases } from './drop-test-databases.ts';
import { withEdit } from './edit.ts';
import { locateMutant, type Mutant } from './mutant.ts';
import type { Result } from './results.ts';

/**
 * Checks copies of the sources with one mistake each, at most two at once, and reports the outcome of each. Writes nothing into the
 * checkout. Throws if the sources fail without a mistake.
 */
export async function tryMutants(
  mutants: readonly Mutant[],
  input: {
    earlier: readonly Result[];
    historiesSeconds: number;
    goesOn: () => boolean;
    onResult: (result: Result) => Promise<void>;
  },
): Promise<void> {
  const { earlier, historiesSeconds, goesOn, onResult } = input;
  const results = [...earlier];
  const waiting = mutants.values();
  const runners = Array.from({ length: Math.min(2, mutants.length) });
  await mapConcurrently(runners.length, runners, () =>
    withPostgres(({ url, adminUrl }) =>
      withCopyOfSources(async (folder) => {
        const check = async (file: string, milliseconds: number): Promise<Caught | undefined> => {
          const checks = checksInOrder(
            results.filter((one) => one.file === file).map(({ caught }) => caught),
          );
          try {
            return await checkCopy(folder, { url, adminUrl, checks, historiesSeconds, milliseconds });
          } finally {
            await dropTestDatabases(adminUrl);
          }
        };
        const timeout = await measureTimeout((milliseconds) => check('', milliseconds));
        for (const mutant of waiting) {
          if (!goesOn()) return;
          const { file, text, edit } = mutant;
          const started = performance.now();
          await writeFile(join(folder, file), withEdit(text, edit));
          const caught = await check(file, timeout);
          await writeFile(join(folder, file), text);
          const seconds = Math.round((performance.now() - started) / 100) / 10;
          const result = { ...locateMutant(mutant), caught: caught ?? null, seconds };
          results.push(result);
          await onResult(result);
        }
      }),
    ),
  );
}

/** Three times as long as the checks take without a mistake. */
async function measureTimeout(check: (milliseconds: number) => Promise<Caught | undefined>): Promise<number> {
  const started = performance.now();
  const failed = await check(1_800_000);
  if (failed !== undefined) {
    throw new Error(`The sources fail without a mistake: ${failed.check} ${failed.test}`);
  }
  return 3 * (performance.now() - started);
}
