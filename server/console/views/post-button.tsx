import type { ComponentChildren, VNode } from 'preact';

/** A button that does something: a form of its own, which works without scripts. */
export function PostButton({
  action,
  kind = 'plain',
  children,
}: {
  action: string;
  kind?: 'plain' | 'main' | 'danger';
  children: ComponentChildren;
}): VNode {
  return (
    <form method="post" action={action} id={`post-${action}`}>
      <button type="submit" class={`button button-${kind}`}>
        {children}
      </button>
    </form>
  );
}
