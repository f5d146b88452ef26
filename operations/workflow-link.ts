import type { Settings } from '../config/settings.ts';

/** Returns the page of a run in Temporal's Web UI; undefined if its address is not known. */
export function workflowLink(
  { ui, namespace }: Pick<Settings['temporal'], 'ui' | 'namespace'>,
  { workflowId, temporalRunId }: { workflowId: string; temporalRunId: string },
): string | undefined {
  if (ui === undefined) return undefined;
  return `${ui}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}/${temporalRunId}`;
}
