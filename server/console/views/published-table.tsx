import type { VNode } from 'preact';
import type { MartsStatus, TargetStatus } from '../../../warehouse/marts/read-marts-status.ts';
import type { SnapshotStatus } from '../../../warehouse/snapshots/read-snapshot-status.ts';
import { Moment } from '../../frame/moment.tsx';
import { DataTable, type Column } from './data-table.tsx';
import { Pill, type State } from './pill.tsx';
import { Section } from './section.tsx';
import { runStates } from './states.ts';

/** The newest snapshot and the marts, as published. Renders nothing if neither was ever requested. */
export function PublishedTable({
  snapshot,
  marts,
  now,
}: {
  snapshot: SnapshotStatus;
  marts: MartsStatus;
  now: Date;
}): VNode | null {
  const rows = [
    rowOfSnapshot(snapshot),
    rowOfMarts('Marts in Postgres', marts.postgres),
    rowOfMarts('Marts on the lake', marts.lake),
  ];
  if (rows.every(({ state }) => state === null)) return null;
  return (
    <Section title="Published">
      <DataTable
        caption="Published"
        columns={columnsAt(now)}
        rows={rows}
        keyOf={({ what }) => `published-${what}`}
        empty=""
      />
    </Section>
  );
}

interface Row {
  what: string;
  /** The state of the last export or build; null: there was none. */
  state: State | null;
  shown: string;
  at: Date | null;
  words: string | null;
}

function rowOfSnapshot({ snapshot_id: id, taken_at: at, ...last }: SnapshotStatus): Row {
  return { what: 'Snapshot', ...stateOf(last), shown: id ?? 'none yet', at };
}

function rowOfMarts(what: string, { marts, as_of_date: day, built_at: at, ...last }: TargetStatus): Row {
  return { what, ...stateOf(last), shown: day === null ? 'none yet' : `${marts} as of ${day}`, at };
}

function stateOf({
  status,
  failure,
  outcome,
}: Pick<TargetStatus, 'status' | 'failure' | 'outcome'>): Pick<Row, 'state' | 'words'> {
  return { state: status === null ? null : runStates[status], words: failure ?? outcome };
}

function columnsAt(now: Date): Column<Row>[] {
  return [
    { head: 'What', kind: 'name', cell: ({ what }) => what },
    { head: 'Readers see', cell: ({ shown }) => shown },
    { head: 'Since', cell: ({ at }) => <Moment at={at} now={now} /> },
    { head: 'Last run', cell: ({ state }) => (state === null ? null : <Pill state={state} />) },
    { head: 'Result', kind: 'text', cell: ({ words }) => words },
  ];
}
