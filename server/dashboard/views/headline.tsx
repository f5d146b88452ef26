import type { VNode } from 'preact';
import { counted } from '../../frame/counted.ts';
import { Icon } from '../../frame/icon.tsx';
import type { Dashboard, Freshness } from '../read-dashboard.ts';
import { leftOutOfChoicesWords } from '../offered.ts';
import { utcMinute } from '../utc-minute.ts';
import { Age } from './age.tsx';

/** The moment that the figures describe, and whether they need attention. */
export function Headline({ dashboard }: { dashboard: Dashboard }): VNode {
  const { build, asOf, readAt } = dashboard;
  return (
    <>
      <h1>Dashboard</h1>
      <p class="lead">
        <b>Data as of {dataAsOf(dashboard)}</b> · marts of {asOf}
        {build.built_at === null ? null : (
          <>
            , built {builtAt(build.built_at)} (<Age at={build.built_at.toISOString()} now={readAt} />)
          </>
        )}
      </p>
      {notesOf(dashboard).map((note) => (
        <p class="note" key={note}>
          <Icon name="warning" />
          <span>{note}</span>
        </p>
      ))}
    </>
  );
}

function builtAt(at: Date): string {
  return `${utcMinute(at.toISOString().replace('T', ' '))} UTC`;
}

/** Returns the age of all connections together: that of the one that was read longest ago. */
export function dataAsOf({ connections }: Pick<Dashboard, 'connections'>): string {
  const read = connections.flatMap(({ last_success_at: at }) => (at === null ? [] : [at])).sort();
  return read[0] === undefined ? 'no complete reading yet' : `${utcMinute(read[0])} UTC`;
}

function incompleteNote(connections: readonly Freshness[]): string[] {
  const count = connections.filter(({ last_success_at: at }) => at === null).length;
  if (count === 0) return [];
  const what =
    count === 1
      ? '1 connection has not been read'
      : `${count.toLocaleString('en-US')} connections have not been read`;
  return [`${what} to the end yet: every figure lacks what is still to come.`];
}

/** A stalled list is read, but does not show all its records. This note says that the figures are therefore too low. */
function stalledNote(connections: readonly Freshness[]): string[] {
  const names = connections
    .filter(({ freshness_status: status }) => status === 'stalled')
    .map(({ connection_id: name }) => name);
  const [first] = names;
  if (first === undefined) return [];
  const [of, name] = names.length === 1 ? [first, first] : [counted(names.length, 'connection'), 'NAME'];
  return [
    `A list of ${of} has stalled: the service has newer records than it shows, and the figures may lack them. "daybook status ${name}" says which list.`,
  ];
}

function quarantineNote(connections: readonly Freshness[]): string[] {
  const count = connections.reduce((sum, { quarantined }) => sum + quarantined, 0);
  if (count === 0) return [];
  const what = counted(count, 'record is', 'records are');
  return [
    `${what} in quarantine: the figures have the last good version, or nothing where there is none. "daybook quarantine list" says why.`,
  ];
}

function deletionNote(connections: readonly Freshness[]): string[] {
  const waiting = connections.filter(({ awaiting_deletion: records }) => records > 0);
  const [first] = waiting;
  if (first === undefined) return [];
  const count = waiting.reduce((sum, { awaiting_deletion: records }) => sum + records, 0);
  const it = count === 1 ? 'it' : 'them';
  const name = waiting.length === 1 ? first.connection_id : 'NAME';
  return [
    `A reconcile found ${counted(count, 'record')} gone at the source, and every figure still has ${it}: "daybook reconcile ${name} --approve-deletes" deletes ${it}, "daybook discrepancies ${name}" says which.`,
  ];
}

export function notesOf({ build, readAt, connections, leftOut }: Dashboard): string[] {
  const notes = [
    ...incompleteNote(connections),
    ...stalledNote(connections),
    ...quarantineNote(connections),
    ...deletionNote(connections),
    ...leftOutOfChoicesWords(leftOut),
  ];
  if (build.status === 'running') notes.push('New marts are being built; these are the last good ones.');
  if (build.status === 'failed')
    notes.push(
      'The last build of the marts failed; these are the last good ones. "daybook status" says why.',
    );
  const hours =
    build.built_at === null ? 0 : Math.floor((readAt.getTime() - build.built_at.getTime()) / 3_600_000);
  const age = hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
  if (hours >= 24) notes.push(`These marts are ${age} old: build new ones with "npx daybook dbt build".`);
  return notes;
}
