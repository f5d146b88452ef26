import * as z from 'zod';

/**
 * A list of lines, or none. Its check ends with the first lines that are wrong: z.array keeps some 800 bytes for each, which for the millions
 * that one answer could hold was more than a gigabyte, and seconds in which nothing else was done.
 */
export function listCheck(line: z.ZodType, wrong: { error: z.core.$ZodErrorMap }): z.ZodType {
  return z
    .custom<unknown[]>(Array.isArray, wrong)
    .superRefine((value, context) => {
      if (value.length > mostLines) {
        const most = mostLines.toLocaleString('en-US');
        context.addIssue({
          code: 'custom',
          message: `has more than ${most} lines, the most that a record may have`,
        });
        return;
      }
      let issues = 0;
      for (const [index, one] of value.entries()) {
        for (const { path, message } of line.safeParse(one).error?.issues ?? []) {
          context.addIssue({ code: 'custom', path: [index, ...path], message });
          issues += 1;
        }
        if (issues >= toldIssues) return;
      }
    })
    .nullish();
}

/** As many as a person is told of. */
export const toldIssues = 5;

/** The largest bills that are known have 10,000. Of so many an answer holds all the values that a line has: `answer-limits.ts`. */
export const mostLines = 25_000;
