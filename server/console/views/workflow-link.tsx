import type { VNode } from 'preact';
import type { Settings } from '../../../config/settings.ts';
import { workflowLink } from '../../../operations/workflow-link.ts';
import { Icon } from '../../frame/icon.tsx';

/** A run in Temporal's Web UI. Only its name if the address of the UI is not known; nothing if no workflow ran. */
export function WorkflowLink({
  run,
  settings,
}: {
  run: { workflow_id: string; temporal_run_id: string };
  settings: Pick<Settings, 'temporal'>;
}): VNode | null {
  const { workflow_id: workflowId, temporal_run_id: temporalRunId } = run;
  if (workflowId === '') return null;
  const href = workflowLink(settings.temporal, { workflowId, temporalRunId });
  if (href === undefined) return <code>{workflowId}</code>;
  return (
    <a href={href} rel="noreferrer">
      {workflowId} in Temporal
      <Icon name="out" />
    </a>
  );
}
