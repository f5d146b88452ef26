import type { ComponentChildren, VNode } from 'preact';
import { Icon } from '../../frame/icon.tsx';

/** Information to know before reading the page. */
export function Note({ children }: { children: ComponentChildren }): VNode {
  return (
    <p class="note">
      <Icon name="warning" />
      <span>{children}</span>
    </p>
  );
}
