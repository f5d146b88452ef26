import type { VNode } from 'preact';
import type { Cell } from '../view.ts';

/** A text, or a state with its color. dashboard.js draws the same when another choice is made. */
export function CellContent({ cell }: { cell: Cell }): VNode {
  return typeof cell === 'string' ? <>{cell}</> : <span class={`pill pill-${cell.tone}`}>{cell.words}</span>;
}
