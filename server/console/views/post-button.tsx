import type { ComponentChildren, VNode } from 'preact';

/** A button that does something: a form of its own, which works without scripts. */
export function PostButton({
  action,
  kind = 'plain',
  fields = [],
  children,
}: {
  action: string;
  kind?: 'plain' | 'main' | 'danger';
  /** Sent with it: names and values. */
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
