import type { VNode } from 'preact';
import type { ConnectionReport } from '../../../operations/connection-reports.ts';
import { paths } from '../../frame/paths.ts';
import { PostButton } from './post-button.tsx';

export function ConnectionActions({ report: { name, paused } }: { report: ConnectionReport }): VNode {
  const path = paths.connection(name);
  return (
    <div class="actions" role="group" aria-label="Actions">
      <PostButton action={`${path}/sync`} kind="main">
        Sync now
      </PostButton>
      <PostButton action={`${path}/reconcile`}>Reconcile now</PostButton>
      {paused === null ? (
        <PauseForm path={path} />
      ) : (
        <PostButton action={`${path}/resume`}>Resume</PostButton>
      )}
    </div>
  );
}

function PauseForm({ path }: { path: string }): VNode {
  return (
    <details class="pop" id="pause">
      <summary class="button">Pause …</summary>
      <form method="post" action={`${path}/pause`} class="pop-body">
        <label>
          Why
          <input type="text" name="why" id="pause-why" maxLength={500} autocomplete="off" required />
        </label>
        <button type="submit" class="button button-main">
          Pause schedules
        </button>
      </form>
    </details>
  );
}
