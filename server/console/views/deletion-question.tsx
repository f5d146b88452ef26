import type { VNode } from 'preact';
import type { WaitingDeletions } from '../../../warehouse/reconcile/read-waiting-deletions.ts';
import { Icon } from '../../frame/icon.tsx';
import { paths } from '../../frame/paths.ts';
import { shownText } from '../actions/shown-deletions.ts';
import { PostButton } from './post-button.tsx';

/** Asks whether to delete records that are gone at the source, if any wait for approval. Approving takes two steps. */
export function DeletionQuestion({ waiting }: { waiting: readonly WaitingDeletions[] }): VNode | null {
  const connection = waiting[0]?.connection_id;
  if (connection === undefined) return null;
  const records = waiting.reduce((sum, one) => sum + one.records, 0).toLocaleString('en-US');
  const list = waiting.map((one) => `${one.records.toLocaleString('en-US')} ${one.resource}`).join(', ');
  return (
    <article class="alert alert-question" id={`deletions-${connection}`}>
      <Icon name="warning" />
      <div>
        <h2>
          <a href={paths.connection(connection)}>{connection}</a>: deletions wait for approval
        </h2>
        <p>
          A reconcile found {list} gone at the source, more than it deletes without asking. Nothing is deleted
          yet. If the source is at fault, leave them: the next reconcile decides again.
        </p>
        <details id={`approve-${connection}`}>
          <summary>Approve the deletions …</summary>
          <p>
            {records} records leave <code>finance</code>. They stay in <code>history</code> and in{' '}
            <code>finance.deleted_records</code>.
          </p>
          <PostButton
            action={`${paths.connection(connection)}/approve-deletions`}
            kind="danger"
            fields={waiting.map((one) => ['shown', shownText(one)])}
          >
            Delete {records} records
          </PostButton>
        </details>
      </div>
    </article>
  );
}
