import pino from 'pino';
import { expect, test } from 'vitest';
import { createReadiness } from '../../server/readiness.ts';

test('a failing check logs one line, however often readiness is requested', async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => void lines.push(line) });
  const readiness = createReadiness({ database: () => Promise.reject(new Error('refused')) }, logger);
  for (let asked = 0; asked < 100; asked += 1)
    expect(await readiness()).toEqual({ ready: false, checks: { database: 'failed' } });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"counts":{"database: refused":1}');
});
