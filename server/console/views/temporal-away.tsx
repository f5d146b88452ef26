import type { VNode } from 'preact';
import { Note } from './note.tsx';

/** Says what cannot be shown while Temporal is unreachable. */
export function TemporalAway({ unknown }: { unknown: string }): VNode {
  return <Note>Temporal does not answer, so {unknown} is not known. The rest comes from the database.</Note>;
}
