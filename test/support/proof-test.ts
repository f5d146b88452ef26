import { describe, test } from 'vitest';

/**
 * `npm test` has an example of every promise. `npm run proof` adds larger volumes and further variants: each `proofTest`, each file named
 * `*.proof.test.ts`, and the whole of each list that `some` or `oldestAndNewest` shortens.
 *
 * `TEST_PROOF=tests` adds these. `TEST_PROOF=all` is for the parts that have a row of their own in `docs/proof.md`: it also kills at every
 * commit and resets at every task, which takes hours.
 */
export const isProof: boolean = process.env.TEST_PROOF !== undefined;
export const isWholeProof: boolean = process.env.TEST_PROOF === 'all';

const nothing = (): undefined => undefined;
const none = Object.assign(nothing, { each: () => nothing, for: () => nothing, skipIf: () => nothing });

/** A test that only `npm run proof` runs. */
export const proofTest: typeof test = isProof ? test : (none as unknown as typeof test);

/** A group whose tests are all proof tests, because vitest allows no empty group. */
export const proofDescribe: typeof describe = isProof ? describe : (none as unknown as typeof describe);

/** The first `few` items of a list in `npm test`, all of them in `npm run proof`. */
export function some<T>(all: readonly T[], few = 1): readonly T[] {
  return isProof ? all : all.slice(0, few);
}

/** The oldest and the newest of released versions, given in their order; all of them in `npm run proof`. */
export function oldestAndNewest<T>(versions: readonly T[]): readonly T[] {
  return isProof ? versions : [...versions.slice(0, 1), ...versions.slice(1).slice(-1)];
}
