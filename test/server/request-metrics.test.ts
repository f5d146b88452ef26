import { expect, test } from 'vitest';
import { measureRequests } from '../../worker/measure-requests.ts';
import { registry } from '../../worker/metrics.ts';
import { answerJson, billsRequest, clientOf, startScriptedApi } from '../source/scripted-api.ts';

test('requests to the finance API are counted by outcome', async () => {
  const abort = new AbortController();
  const api = await startScriptedApi(({ query }, response) => {
    if (query.has('abort')) abort.abort();
    else if (query.has('refuse')) response.writeHead(429).end();
    else answerJson(response, { bills: [] });
  });
  const client = measureRequests(clientOf(api).client);
  await client.list(billsRequest);
  await client.list(billsRequest);
  await expect(client.list({ ...billsRequest, query: { refuse: '' } })).rejects.toThrow();
  const aborted = client.list({ ...billsRequest, query: { abort: '' }, signal: abort.signal });
  await expect(aborted).rejects.toThrow();
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('daybook_requests'));
  expect(lines.toSorted()).toEqual([
    'daybook_requests_total{outcome="RateLimited"} 1',
    'daybook_requests_total{outcome="aborted"} 1',
    'daybook_requests_total{outcome="ok"} 2',
  ]);
});
