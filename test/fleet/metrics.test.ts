import { expect, test } from 'vitest';
import { registry } from '../../worker/metrics.ts';
import '../../worker/webhooks/webhook-metrics.ts';

test('no metric has a label for each connection: what ten thousand would multiply is counted for all', () => {
  const labels = registry
    .getMetricsAsArray()
    .flatMap((metric) => ('labelNames' in metric ? (metric.labelNames as string[]) : []));
  expect(labels).toContain('stream');
  expect(labels.filter((label) => /connection|company|org/.test(label))).toEqual([]);
});
