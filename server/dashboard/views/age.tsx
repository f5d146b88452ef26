import type { VNode } from 'preact';
import { Moment } from '../../frame/moment.tsx';

/** The age of a moment. dashboard.js keeps it current while the page is open, and in a saved file. */
export function Age({ at, now }: { at: string | null; now: Date }): VNode | null {
  if (at === null) return null;
  return (
    <span data-age>
      <Moment at={new Date(at)} now={now} />
    </span>
  );
}
