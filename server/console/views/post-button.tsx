import type { ComponentChildren, VNode } from 'preact';

/** A button with a form of its own, which posts an action and works without scripts. */
export function PostButton({
  action,
  kind = 'plain',
  fields = [],
  children,
}: {
  action: string;
  kind?: 'plain' | 'main' | 'danger';
  /** Names and values sent with the form. */
  fields?: readonly (readonly [string, string])[];
  children: ComponentChildren;
}): VNode {
  return (
    <form method="post" action={action} id={`post-${action}`}>
      {fields.map(([name, value]) => (
        <input key={value} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class={`button button-${kind}`}>
        {children}
      </button>
    </form>
  );
}
