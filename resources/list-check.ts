import * as z from 'zod';

/**
 * Checks a list of lines, or none. The check ends with the first few wrong lines: z.array keeps some 800 bytes for each, which for the millions
 * of lines in one response took more than a gigabyte, and blocked the event loop for seconds.
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
        if (issues >= maxReportedIssues) return;
      }
    })
    .nullish();
}

/** The maximum number of issues reported to a person. */
export const maxReportedIssues = 5;

/** The largest known bills have 10,000. A response with 25,000 can still hold all values of each line: `answer-limits.ts`. */
export const mostLines = 25_000;
