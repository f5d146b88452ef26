import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutTokens } from '../../source/without-tokens.ts';

test.each([
  ['{"access_token":"t"}', '{}'],
  ['{"access_token":"t","a":1}', '{"a":1}'],
  ['{"a":1,"access_token":"t"}', '{"a":1}'],
  ['{"a":1 , "access_token" : "t" , "b":1.10}', '{"a":1 ,  "b":1.10}'],
  ['{"a":[{"access_token":{"b":[1,"t"]}},{"c":1,"access_token":["t"]}]}', '{"a":[{},{"c":1}]}'],
  ['{"access_token":"t","access_token":"u"}', '{}'],
  [String.raw`{"acces\u0073_token":"t"}`, '{}'],
  ['{"accessToken":"t","ACCESS_TOKEN":"t"}', '{}'],
  ['"http://x/?access_token=t&limit=1#access_token=t"', '"http://x/?access_token=&limit=1#access_token="'],
  ['"http://x/?u=%3Faccess_token%3Dt"', '"http://x/?u=%3Faccess_token%3D"'],
  [String.raw`"{\"access_token\":\"t\",\"a\":1}"`, String.raw`"{\"access_token\":\"\",\"a\":1}"`],
  [
    '"access_token=%3Dt and access_token: u, access_token"',
    '"access_token=%3D and access_token: , access_token"',
  ],
  ['"access_token=& access_token"', '"access_token=& access_token"'],
  ['{"a":"access_token"}', '{"a":"access_token"}'],
  ['{"access_token_id":"kept"}', '{"access_token_id":"kept"}'],
])('the text %s without its tokens is %s', (text, left) => {
  expect(withoutTokens(text)).toBe(left);
});

test.each([
  ['"access_token" and an equals sign far away', `access_token${' '.repeat(8_000_000)}=`, 't'],
  [
    'an address with an address in it',
    `access_token${'%22'.repeat(2_000_000)}%3D${'%22'.repeat(2_000_000)}`,
    't',
  ],
  ['a token that never ends', 'access_token=', 't'.repeat(8_000_000)],
])('a text of megabytes is cleared of tokens within seconds: %s', (_, before, token) => {
  const started = performance.now();
  const left = withoutTokens(JSON.stringify({ memo: `${before}${token}&a=1` }));
  expect(left === JSON.stringify({ memo: `${before}&a=1` })).toBe(true);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('the rest of a text keeps its content, and the result is valid JSON', () => {
  const key = fc.constantFrom('a', 'access_token', 'b "c"', 'é');
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('1.10', '1e400', '"x\\u0022y"', 'null', '" , "'),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('any'), { maxLength: 3 }).map((all) => `[${all.join(' , ')}]`),
    object: fc
      .array(fc.tuple(key, tie('any')), { maxLength: 3 })
      .map(
        (members) =>
          `{${members.map(([name, text]) => `${JSON.stringify(name)} :${String(text)}`).join(', ')}}`,
      ),
  })).any;
  fc.assert(
    fc.property(value, (text) => {
      const left = withoutTokens(String(text));
      expect(JSON.stringify(JSON.parse(left))).toBe(JSON.stringify(without(JSON.parse(String(text)))));
    }),
  );
});

function without(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(without);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== 'access_token');
  return Object.fromEntries(members.map(([name, one]) => [name, without(one)]));
}
