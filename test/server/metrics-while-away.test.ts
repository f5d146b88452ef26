import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { metricsText } from '../../server/metrics-text.ts';
import { startHttpServer } from '../../server/start-http-server.ts';

test('/readyz reports an unreachable Postgres, and /metrics still answers', async () => {
  const server = await startHttpServer({
    ...{ host: '127.0.0.1', port: 0, portIsDefault: false },
    readiness: { database: () => Promise.reject(new Error('refused')) },
    metrics: () => metricsText(1),
    logger: pino({ level: 'silent' }),
  });
  onTestFinished(() => server.close());
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
  const metrics = await fetch(`${server.url}/metrics`);
  expect(metrics.status).toBe(200);
  expect(await metrics.text()).toContain('process_resident_memory_bytes');
});
