import { keptBack, type LakeKeeps } from '../errors.ts';

/** Runs removals one after the other, even if storage refuses some. Throws the first LakeKeeps once all were tried. */
export async function removeEach(removals: readonly (() => Promise<void>)[]): Promise<void> {
  let problem: LakeKeeps | undefined;
  for (const remove of removals) {
    const refusal = await keptBack(remove);
    problem ??= refusal;
  }
  if (problem !== undefined) throw problem;
}
