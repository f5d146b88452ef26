import type { VNode } from 'preact';

/** Drawn on a grid of 16 by 16. Icons accompany words, and never replace them. */
const outlines = {
  check: 'M3.5 8.5l3 3 6-7',
  cross: 'M4 4l8 8M12 4l-8 8',
  warning: 'M8 2.5l6 11H2zM8 6.5v3.2M8 11.6v.1',
  turning: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3',
  pause: 'M5.5 4v8M10.5 4v8',
  clock: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11M8 5v3.2l2.2 1.3',
  none: 'M4 8h8',
  out: 'M6 4H3.5v8.5H12V10M9 3.5h3.5V7M12.2 3.8L7.5 8.5',
} as const;

export type IconName = keyof typeof outlines;

export function Icon({ name }: { name: IconName }): VNode {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={outlines[name]} />
    </svg>
  );
}
