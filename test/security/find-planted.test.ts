import { expect, test } from 'vitest';
import { findPlanted } from './find-planted.ts';

const secret = 'secret +/=&"é of somebody';

test.each([
  ['as it is', `a ${secret} b`],
  ['in JSON', JSON.stringify({ a: secret })],
  ['in an address', `/a?token=${encodeURIComponent(secret)}&b`],
  ['in a form', new URLSearchParams({ a: secret }).toString()],
  ['in markup', `<p>${secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}</p>`],
  ['in hex', Buffer.from(`a${secret}`).toString('hex')],
  ...['', 'a', 'ab'].map((before) => [
    `in base64, ${before.length} behind its beginning`,
    Buffer.from(`${before}${secret}:b`).toString('base64'),
  ]),
  ['in base64 for addresses', Buffer.from(`a:${secret}`).toString('base64url')],
])('a secret is found %s', (_, content) => {
  const places = [
    { name: 'here', content },
    { name: 'there', content: 'secret of nobody' },
  ];
  expect(findPlanted(places, { password: secret })).toEqual(['password in here']);
});
