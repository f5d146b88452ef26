import type { VNode } from 'preact';
import type { QuarantineEntry } from '../../../warehouse/quarantine/read-quarantine.ts';
import { choiceOfEntry } from '../actions/chosen-entries.ts';
import { Moment } from '../../frame/moment.tsx';
import { paths } from '../../frame/paths.ts';
import { DataTable, type Column } from './data-table.tsx';

/** The records in quarantine, and why each is there. Their content is shown on the command line only. */
export function QuarantineTable({
  entries,
  now,
  choosable = false,
  ofConnection = false,
}: {
  entries: readonly QuarantineEntry[];
  now: Date;
  /** True if each row has a checkbox, inside a form. */
  choosable?: boolean;
  /** True if all rows are of one connection, which the page names. */
  ofConnection?: boolean;
}): VNode {
  return (
    <DataTable
      caption="Records in quarantine"
      columns={columnsAt(now, choosable)}
      rows={entries}
      keyOf={({ id }) => `entry-${id}`}
      empty="Nothing is in quarantine."
      without={ofConnection ? 'Connection' : undefined}
    />
  );
}

function columnsAt(now: Date, choosable: boolean): Column<QuarantineEntry>[] {
  return [
    {
      head: 'Entry',
      kind: 'name',
      cell: (entry) => (choosable ? <Choice entry={entry} /> : String(entry.id)),
    },
    {
      head: 'Record',
      cell: ({ resource, record_id: record }) => (
        <>
          {resource} <code>{record ?? 'without an id'}</code>
        </>
      ),
    },
    {
      head: 'Connection',
      cell: ({ connection_id: name }) => <a href={paths.connection(name)}>{name}</a>,
    },
    { head: 'Why', kind: 'text', cell: ({ reason }) => reason },
    { head: 'Since', cell: ({ first_seen_at: at }) => <Moment at={at} now={now} /> },
    { head: 'Last seen', cell: ({ last_seen_at: at }) => <Moment at={at} now={now} /> },
  ];
}

function Choice({ entry }: { entry: QuarantineEntry }): VNode {
  const { id } = entry;
  return (
    <label class="choice">
      <input type="checkbox" name="entry" value={choiceOfEntry(entry)} id={`choose-${id}`} />
      <span class="unseen">Choose entry</span> {id}
    </label>
  );
}
