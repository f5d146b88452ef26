import type { VNode } from 'preact';
import { Moment } from '../../frame/moment.tsx';

/** How long ago, which dashboard.js keeps true while the page is open, or a file is kept. */
export function Age({ at, now }: { at: string | null; now: Date }): VNode | null {
  if (at === null) return null;
  return (
    <span data-age>
      <Moment at={new Date(at)} now={now} />
    </span>
  );
}
