import type { z } from 'zod';
import { LakeAltered } from './errors.ts';
import type { Found, Lake } from './lake.ts';

/** A small file of a lake, and what it says; undefined when there is none. Throws LakeAltered when Daybook would not write it so. */
export async function readChecked<Shape extends z.ZodType>(
  lake: Lake,
  path: string,
  shape: Shape,
): Promise<{ found: Found; value: z.infer<Shape> } | undefined> {
  const found = await lake.read(path);
  if (found === undefined) return undefined;
  const { success, data, error } = shape.safeParse(parsed(found.text));
  if (!success) throw new LakeAltered(lake.location, path, error.issues[0]?.path ?? []);
  return { found, value: data };
}

/** Undefined when it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The only way JSON.parse has to say so.
    return undefined;
  }
}
