import { keptBack, type LakeKeeps } from '../errors.ts';

/** Removes one after the other, whatever storage keeps of one of them. Throws LakeKeeps of the first that it keeps, once all were tried. */
export async function removeEach(removals: readonly (() => Promise<void>)[]): Promise<void> {
  let problem: LakeKeeps | undefined;
  for (const remove of removals) {
    const refusal = await keptBack(remove);
    problem ??= refusal;
  }
  if (problem !== undefined) throw problem;
}
