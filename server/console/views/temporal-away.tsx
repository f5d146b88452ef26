import type { VNode } from 'preact';
import { Icon } from '../../frame/icon.tsx';

/** Says what cannot be shown while Temporal is out of reach. */
export function TemporalAway({ unknown }: { unknown: string }): VNode {
  return (
    <p class="note">
      <Icon name="warning" />
      <span>Temporal does not answer, so {unknown} is not known. The rest comes from the database.</span>
    </p>
  );
}
