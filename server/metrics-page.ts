import type { Registry } from 'prom-client';

export interface MetricsSources {
  readonly registry: Registry;
  /** Where Temporal's SDK serves its own metrics: a port of the loopback. None where the SDK does not run. */
  readonly temporalPort?: number | undefined;
}

/** Our metrics and those of Temporal's SDK on one page, in the text format of Prometheus. */
export async function metricsPage({ registry, temporalPort }: MetricsSources): Promise<string> {
  const ours = await registry.metrics();
  return temporalPort === undefined ? ours : `${ours}\n${await temporalMetrics(temporalPort)}`;
}

/** A comment takes their place when they do not come: a scrape must not lose our metrics for want of these. */
async function temporalMetrics(port: number): Promise<string> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(2000) });
    if (response.ok) return await response.text();
    return `# Temporal's SDK answered ${response.status} instead of its metrics.\n`;
  } catch (error) {
    const reason = error instanceof Error ? error.name : typeof error;
    return `# Temporal's SDK did not answer with its metrics (${reason}).\n`;
  }
}
