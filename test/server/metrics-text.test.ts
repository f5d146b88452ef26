import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { metricsText } from '../../server/metrics-text.ts';
import { notePageLanded } from '../../worker/metrics.ts';

beforeAll(() => {
  const counts = { inserted: 3, updated: 0, unchanged: 2, suppressed: 0, quarantined: 1 };
  notePageLanded({ stream: 'bills', milliseconds: 40, counts });
});

/** A server that replaces the Temporal SDK's own. */
async function sdkPort(status: number): Promise<number> {
  const server = createServer((_, response) => {
    response.writeHead(status).end('temporal_request{operation="PollActivityTaskQueue"} 3\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const ours = [
  'daybook_pages_landed_total{stream="bills"} 1',
  'daybook_records_total{stream="bills",outcome="inserted"} 3',
  'daybook_records_total{stream="bills",outcome="unchanged"} 2',
  'daybook_records_total{stream="bills",outcome="quarantined"} 1',
  'daybook_page_landing_seconds_bucket{le="0.05",stream="bills"} 1',
  'daybook_page_landing_seconds_bucket{le="0.025",stream="bills"} 0',
];

test('metrics of Daybook and of the Temporal SDK are on one page', async () => {
  const lines = (await metricsText(await sdkPort(200))).split('\n');
  expect(lines).toEqual(expect.arrayContaining(ours));
  expect(lines).toContain('temporal_request{operation="PollActivityTaskQueue"} 3');
  expect(lines.some((line) => line.startsWith('process_resident_memory_bytes '))).toBe(true);
});

test.each([
  ['does not answer', () => Promise.resolve(1)],
  ['answers with an error', () => sdkPort(500)],
])('metrics of Daybook are available if the SDK %s', async (_, port) => {
  const lines = (await metricsText(await port())).split('\n');
  expect(lines).toEqual(expect.arrayContaining(ours));
  expect(lines).toContain('# The metrics of the Temporal SDK could not be read.');
  expect(lines.filter((line) => line.startsWith('temporal_'))).toEqual([]);
});
