import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { keepNotice, takeNotice } from '../../server/console/notice.ts';

test('a notice cut within a surrogate pair is shown', async () => {
  const key = randomBytes(32);
  const secretKey = (): Promise<Buffer> => Promise.resolve(key);
  const set: string[] = [];
  const reply = { header: (_: string, value: string) => set.push(value) } as unknown as FastifyReply;
  await keepNotice(reply, { kind: 'done', text: `${'a'.repeat(999)}🌍 and more` }, secretKey);
  const [cookie] = (set[0] ?? '').split(';');
  const request = { headers: { cookie } } as unknown as FastifyRequest;
  expect(await takeNotice(request, reply, secretKey)).toEqual({
    kind: 'done',
    text: `${'a'.repeat(999)}\ufffd`,
  });
});
