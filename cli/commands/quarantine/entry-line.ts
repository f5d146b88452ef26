import type { QuarantineEntry } from '../../../warehouse/quarantine/read-quarantine.ts';

/** Returns an entry and its outcome in one line. */
export function entryLine(entry: QuarantineEntry & { failure?: string | null }): string {
  const {
    id,
    resource,
    record_id: record,
    connection_id: connection,
    status,
    reason,
    closed_why: why,
  } = entry;
  const words = status === 'open' ? (entry.failure ?? reason) : (why ?? '');
  return `${id}  ${resource} ${record ?? '(no id)'} of ${connection}: ${status}, ${words}`;
}
