import { registry } from '../worker/metrics.ts';

/** Returns our metrics, followed by those that Temporal's SDK serves on its own port. If the SDK's cannot be read, ours are still returned. */
export async function metricsText(sdkPort: number): Promise<string> {
  const [ours, sdk] = await Promise.all([registry.metrics(), sdkMetrics(sdkPort)]);
  return `${ours}\n${sdk}`;
}

async function sdkMetrics(port: number): Promise<string> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(2_000) });
    if (response.ok) return await response.text();
  } catch {
    // The line below reports it.
  }
  return '# The metrics of the Temporal SDK could not be read.\n';
}
