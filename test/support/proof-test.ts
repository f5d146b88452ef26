import { describe, test } from 'vitest';

/**
 * `npm test` has an example of every promise. What proves one by mass, or by a variant more, is in `npm run proof`: a test that is a
 * `proofTest`, a file that is called `*.proof.test.ts`, and all of a list that `some` or `oldestAndNewest` cuts short.
 *
 * `TEST_PROOF=tests` adds these. `TEST_PROOF=all` is for the parts that have a row of their own in `docs/proof.md`: it also kills at
 * every commit and resets at every task, which takes hours.
 */
export const isProof: boolean = process.env.TEST_PROOF !== undefined;
export const isWholeProof: boolean = process.env.TEST_PROOF === 'all';

const nothing = (): undefined => undefined;
const none = Object.assign(nothing, { each: () => nothing, for: () => nothing });

/** A test of `npm run proof`; for `npm test` there is none. */
export const proofTest: typeof test = isProof ? test : (none as unknown as typeof test);

/** Where all tests of a group are such: a group may not be empty. */
export const proofDescribe: typeof describe = isProof ? describe : (none as unknown as typeof describe);

/** The first of a list for `npm test`, all of them for `npm run proof`. */
export function some<T>(all: readonly T[], few = 1): readonly T[] {
  return isProof ? all : all.slice(0, few);
}

/** Of released versions, in their order. */
export function oldestAndNewest<T>(versions: readonly T[]): readonly T[] {
  return isProof ? versions : [...versions.slice(0, 1), ...versions.slice(1).slice(-1)];
}
