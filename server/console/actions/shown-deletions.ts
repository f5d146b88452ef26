import type { DeletionQuestion } from '../../../warehouse/reconcile/deletion-question.ts';
import type { WaitingDeletions } from '../../../warehouse/reconcile/read-waiting-deletions.ts';

/** The form's copy of what the page shows of a resource, so that an old page cannot approve deletions it never showed. */
export function shownText({ resource, records, run_id }: WaitingDeletions): string {
  return `${resource} ${records} ${run_id}`;
}

export function shownDeletions(form: URLSearchParams): DeletionQuestion {
  return Object.fromEntries(
    form.getAll('shown').map((shown) => {
      const [resource = '', records = '', run = ''] = shown.split(' ');
      return [resource, { records: Number(records), run }];
    }),
  );
}
