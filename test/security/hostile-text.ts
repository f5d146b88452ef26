import fc from 'fast-check';

/** A unique mark: wherever it is found, a hostile text was. */
export const mark = 'hostile7f3a';

/** Texts with a meaning in SQL, shells, JSON, markup or addresses, each with the mark in it. */
export const hostileText: fc.Arbitrary<string> = fc
  .tuple(pieces(), pieces())
  .map(([before, after]) => `${before}${mark}${after}`);

function pieces(): fc.Arbitrary<string> {
  return fc.string({
    maxLength: 4,
    unit: fc.oneof(
      fc.constantFrom(
        `'`,
        `"`,
        `''`,
        '\\',
        `\\'`,
        ';',
        '--',
        '/*',
        '*/',
        '$$',
        '$1',
        '$a$',
        '?',
        ':x',
        '%',
        '%s',
      ),
      fc.constantFrom(
        '{',
        '}',
        '(',
        ')',
        ',',
        '\n',
        '\r',
        '\t',
        '\u0000',
        '\u2028',
        '\ufeff',
        'é',
        '😀',
        '../',
        '&',
        '=',
      ),
      fc.constantFrom(`' or true --`, `'; drop table finance.bills; --`, `') on conflict do nothing; --`),
      fc.constantFrom('\\copy', '<script>', '`', '#', ' '),
    ),
  });
}
