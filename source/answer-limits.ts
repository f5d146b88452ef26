/**
 * What one answer may cost, whatever comes: parsed, JSON takes up to 50 times its own size, so the limits hold before anything is. With
 * them the largest takes 360 MB and four seconds of computing at the very worst, one at a time; what is kept of it until it lands is text.
 */
export interface AnswerLimits {
  readonly bytes: number;
  /** Values of JSON at any depth, objects and lists included. */
  readonly values: number;
  /** Records of a list. */
  readonly records: number;
}

/**
 * A page of 500 records (API document 8) has 1 to 2 MB and 50,000 values; with platform_data, or entries of a hundred lines, 10 MB.
 * A record of 10,000 lines has 5 MB and 200,000 values. A page that has more is asked for again with fewer records, see `readPages`.
 * A list that knows no `limit` may send what it likes, up to 20 times as many records as were asked for.
 */
export const answerLimits: AnswerLimits = {
  bytes: 32 * 1024 * 1024,
  values: 500_000,
  records: 10_000,
};
