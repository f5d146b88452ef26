import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replaceNul } from '../../source/replace-nul.ts';

test.each([
  [String.raw`"a\u0000b"`, String.raw`"a\ufffdb"`],
  [String.raw`"\u0000\u0000"`, String.raw`"\ufffd\ufffd"`],
  [String.raw`"\\u0000"`, String.raw`"\\u0000"`],
  [String.raw`"\\\u0000"`, String.raw`"\\\ufffd"`],
  [String.raw`"\\\\u0000\u0000"`, String.raw`"\\\\u0000\ufffd"`],
  [String.raw`"u0000"`, String.raw`"u0000"`],
  [String.raw`"\u00001.10"`, String.raw`"\ufffd1.10"`],
])('%s lands as %s', (text, replaced) => {
  expect(replaceNul(text)).toBe(replaced);
});

test('any string reads back as itself, with U+FFFD in place of NUL', () => {
  const text = fc.string({ unit: fc.constantFrom('\u0000', '\\', 'u0000', '"', 'a') });
  fc.assert(
    fc.property(text, (text) => {
      expect(JSON.parse(replaceNul(JSON.stringify(text)))).toBe(text.replaceAll('\u0000', '\ufffd'));
    }),
  );
});
