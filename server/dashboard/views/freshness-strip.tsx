import type { VNode } from 'preact';
import { freshnessWords } from '../freshness-words.ts';
import type { Freshness } from '../read-dashboard.ts';
import { Age } from './age.tsx';

/** Nobody reads through more than this. */
const mostShown = 500;

/** How fresh each connection was when the marts were built; stale ones are highlighted, and come first. */
export function FreshnessStrip({
  connections,
  now,
}: {
  connections: readonly Freshness[];
  now: Date;
}): VNode {
  const [fresh, others] = [true, false].map((wanted) =>
    connections.filter(({ freshness_status: status }) => (status === 'fresh') === wanted),
  );
  const all = [...(others ?? []), ...(fresh ?? [])];
  return (
    <ul class="strip" aria-label="Freshness of each connection">
      {all.slice(0, mostShown).map((connection) => {
        const { words, tone } = freshnessWords(connection.freshness_status);
        return (
          <li key={connection.connection_id} class={`strip-${tone}`}>
            <b>{connection.connection_id}</b>
            <span class={`pill pill-${tone}`}>{words}</span>
            <span class="aside">
              <Age at={connection.last_success_at} now={now} />
            </span>
          </li>
        );
      })}
      {all.length > mostShown ? (
        <li>
          <span class="aside">and {(all.length - mostShown).toLocaleString('en-US')} more</span>
        </li>
      ) : null}
    </ul>
  );
}
