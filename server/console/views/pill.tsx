import type { VNode } from 'preact';
import { Icon, type IconName } from '../../frame/icon.tsx';

/** A state in words, with a color and an icon for it. */
export interface State {
  readonly tone: 'good' | 'active' | 'warn' | 'bad' | 'quiet';
  readonly icon: IconName;
  readonly words: string;
}

export function Pill({ state: { tone, icon, words } }: { state: State }): VNode {
  return (
    <span class={`pill pill-${tone}`}>
      <Icon name={icon} />
      {words}
    </span>
  );
}
