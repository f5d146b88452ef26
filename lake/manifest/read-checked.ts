import type { z } from 'zod';
import { createValueCounter } from '../../resources/count-values.ts';
import { LakeAltered } from '../errors.ts';
import type { Found, Lake } from '../lake.ts';

/** A small file of a lake: its contents, or why none of it is used. */
export type Checked<Value> =
  | { readonly found: Found; readonly value: Value; readonly altered?: undefined }
  | { readonly found: Found; readonly value?: undefined; readonly altered: LakeAltered };

/** Undefined if there is no such file. Throws LakeAltered if Daybook would not write it so. */
export async function readChecked<Shape extends z.ZodType>(
  lake: Lake,
  path: string,
  shape: Shape,
): Promise<{ found: Found; value: z.infer<Shape> } | undefined> {
  return unaltered(await look(lake, path, shape));
}

/** Undefined if there is no such file; altered if Daybook would not write it so. */
export async function look<Shape extends z.ZodType>(
  lake: Lake,
  path: string,
  shape: Shape,
): Promise<Checked<z.infer<Shape>> | undefined> {
  const found = await lake.read(path);
  if (found === undefined) return undefined;
  const { refused } = found;
  if (refused !== undefined) return { found, altered: new LakeAltered(lake.location, path, { refused }) };
  const { success, data, error } = shape.safeParse(parsed(found.text));
  if (success) return { found, value: data };
  return { found, altered: new LakeAltered(lake.location, path, error.issues[0]?.path ?? []) };
}

/** Throws LakeAltered. */
export function unaltered<Value>(
  checked: Checked<Value> | undefined,
): { found: Found; value: Value } | undefined {
  if (checked === undefined) return undefined;
  if (checked.altered !== undefined) throw checked.altered;
  return checked;
}

/** Undefined if it is not JSON, or has more values than the largest manifest: parsed, they take 30 times their size. */
function parsed(text: string): unknown {
  if (text.length > mostValues && createValueCounter()(Buffer.from(text)) > mostValues) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // JSON.parse reports invalid text only by throwing.
    return undefined;
  }
}

/** An unfit value takes ten JSON values in some 260 bytes. */
const mostValues = 3_000_000;
