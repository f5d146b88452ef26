import type { VNode } from 'preact';
import { Icon, type IconName } from '../../frame/icon.tsx';

/** A state in words, with a colour and an icon that say the same. */
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
