import * as z from 'zod';
import { nameText } from './checked-texts.ts';
import { isObject } from '../../resources/is-object.ts';

/**
 * A list whose check ends with the first wrong member. z.array checks all members and keeps each error: for millions of members that took
 * eleven minutes.
 */
export function checkedList<Shape extends z.ZodType>(
  shape: Shape,
): z.ZodType<z.infer<Shape>[], readonly unknown[]> {
  return z.array(z.unknown()).transform((values, context) => {
    const checked: z.infer<Shape>[] = [];
    for (const [index, value] of values.entries()) {
      const { success, data, error } = shape.safeParse(value);
      if (!success) return wrong(context, [index, ...(error.issues[0]?.path ?? [])]);
      checked.push(data);
    }
    return checked;
  });
}

/** Members by names of tables or columns. The check ends with the first wrong one. */
export function byName<Shape extends z.ZodType>(
  shape: Shape,
): z.ZodType<Record<string, z.infer<Shape>>, Record<string, unknown>> {
  return z.custom<Record<string, unknown>>(isObject).transform((members, context) => {
    const checked: Record<string, z.infer<Shape>> = {};
    for (const name of Object.keys(members)) {
      if (!nameText.safeParse(name).success) return wrong(context, [name]);
      const { success, data, error } = shape.safeParse(members[name]);
      if (!success) return wrong(context, [name, ...(error.issues[0]?.path ?? [])]);
      checked[name] = data;
    }
    return checked;
  });
}

function wrong(context: z.RefinementCtx, path: PropertyKey[]): never {
  context.addIssue({ code: 'custom', path });
  return z.NEVER;
}
