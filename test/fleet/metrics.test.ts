import { expect, test } from 'vitest';
import { registry } from '../../worker/metrics.ts';
import '../../server/webhooks/webhook-metrics.ts';

test('no metric has a label per connection', () => {
  const labels = registry
    .getMetricsAsArray()
    .flatMap((metric) => ('labelNames' in metric ? (metric.labelNames as string[]) : []));
  expect(labels).toContain('stream');
  expect(labels.filter((label) => /connection|company|org/.test(label))).toEqual([]);
});
