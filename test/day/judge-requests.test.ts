import { expect, test } from 'vitest';
import type { LoggedRequest } from '../../sandbox/http/request-log.ts';
import { judgeRequests } from './judge-requests.ts';

test('requests within the budget bring no complaint', () => {
  expect(judgeRequests(arriving([0, 1, 9_999, 10_000, 10_001]), { requestsPer10s: 3 })).toEqual([]);
});

test('more requests in any 10 s than the budget allows bring a complaint', () => {
  const requests = arriving([0, 9_000, 9_001, 18_999]);
  expect(judgeRequests(requests, { requestsPer10s: 2 })).toEqual([
    '3 requests arrived within 10 s, and 2 were allowed.',
  ]);
});

test('requests without the API version bring a complaint, and so does a log without its first requests', () => {
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
