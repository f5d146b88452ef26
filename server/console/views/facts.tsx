import type { ComponentChildren, VNode } from 'preact';

/** Names and values, side by side. Facts without a value are left out. */
export function Facts({ of }: { of: Readonly<Record<string, ComponentChildren>> }): VNode {
  const known = Object.entries(of).filter(
    ([, value]) => value !== null && value !== undefined && value !== '' && value !== false,
  );
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
