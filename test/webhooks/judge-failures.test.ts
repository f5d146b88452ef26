import { expect, test } from 'vitest';
import { judgeAnnouncedFailures, type FailedRecord } from '../../activities/judge-announced-failures.ts';
import { SourceUnavailable } from '../../source/errors.ts';

test('while fetches of a resource get no answer, no others are sent, since each may hang', async () => {
  const failure = { request: 'GET /accounting/bills/a', status: null, errorCode: null, requestId: null };
  const error = new SourceUnavailable(failure, 'UND_ERR_HEADERS_TIMEOUT');
  const failed: FailedRecord[] = ['a', 'b', 'c'].map((id) => ({
    id,
    error,
    webhooks: [],
    deleted: false,
    deletedAt: null,
    deletedVersion: null,
    version: null,
    tries: 0,
  }));
  const asked: string[] = [];
  const held = (): Promise<string[]> => Promise.resolve(['d']);
  const fetch = (id: string): Promise<never> => {
    asked.push(id);
    return Promise.reject(error);
  };
  expect(await judgeAnnouncedFailures(failed, { inRow: 3, held, fetch })).toBe(error);
  expect(asked).toEqual([]);
  expect(await judgeAnnouncedFailures(failed, { inRow: 2, held, fetch })).toBe('may be down');
  const answered = new SourceUnavailable({ ...failure, status: 503 }, null);
  const refused = failed.map((record) => ({ ...record, error: answered }));
  expect(await judgeAnnouncedFailures(refused, { inRow: 3, held, fetch })).toBe(answered);
  expect(asked).toEqual(['d']);
});
