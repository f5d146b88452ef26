import { expect, test } from 'vitest';
import type { LoggedRequest } from '../../sandbox/http/request-log.ts';
import { judgeRequests } from './judge-requests.ts';

test('requests within the budget are no reason to complain', () => {
  expect(judgeRequests(arriving([0, 1, 9_999, 10_000, 10_001]), { requestsPer10s: 3 })).toEqual([]);
});

test('more requests than the budget allows in any 10 s are seen', () => {
  const requests = arriving([0, 9_000, 9_001, 18_999]);
  expect(judgeRequests(requests, { requestsPer10s: 2 })).toEqual([
    '3 requests arrived within 10 s, and 2 were allowed.',
  ]);
});

test('a request without the version is seen, and so is a log that has forgotten its beginning', () => {
  const requests = arriving([0, 1, 2]).map((request) => ({ ...request, version: null }));
  expect(judgeRequests(requests.slice(1), { requestsPer10s: 3 })).toEqual([
    'The log of requests is incomplete; the day was too long.',
    '2 requests did not name the version of the API.',
  ]);
});

function arriving(times: readonly number[]): LoggedRequest[] {
  return times.map((at, index) => ({
    number: index + 1,
    at,
    method: 'GET',
    path: '/events',
    query: '',
    connection: 'acme-us',
    version: '2023-03-14',
    fault: null,
    status: 200,
  }));
}
