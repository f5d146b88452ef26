/**
 * The limits of one response, checked before it is parsed, because parsed JSON takes up to 50 times its own size. With them the largest response
 * takes at worst 360 MB and four seconds of CPU, one at a time; until it lands it is kept as text.
 */
export interface AnswerLimits {
  readonly bytes: number;
  /** JSON values at any depth, objects and lists included. */
  readonly values: number;
  /** Records in a list. */
  readonly records: number;
}

/**
 * A page of 500 records (API document 8) has 1 to 2 MB and 50,000 values; with platform_data, or entries of a hundred lines, 10 MB. A record of
 * 10,000 lines has 5 MB and 200,000 values. A larger page is requested again with fewer records, see `readPages`. A list that ignores `limit` may
 * send up to 20 times as many records as requested.
 */
export const answerLimits: AnswerLimits = {
  bytes: 32 * 1024 * 1024,
  values: 500_000,
  records: 10_000,
};
