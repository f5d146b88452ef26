import type { VNode } from 'preact';

/** A relative time, with the exact one behind it. Renders nothing if there is none. */
export function Moment({ at, now }: { at: Date | null | undefined; now: Date }): VNode | null {
  if (at === null || at === undefined) return null;
  const iso = at.toISOString();
  return (
    <time dateTime={iso} title={utc(at)}>
      {distance((now.getTime() - at.getTime()) / 1000)}
    </time>
  );
}

/** The exact time, to the second. */
export function ExactTime({ at }: { at: Date | null | undefined }): VNode | null {
  if (at === null || at === undefined) return null;
  return <time dateTime={at.toISOString()}>{utc(at)}</time>;
}

/** Returns a duration in words, such as that of a run. */
export function lengthOf(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds / 1000);
  return seconds < 10 ? `${seconds.toFixed(1)} s` : roughly(seconds);
}

function utc(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function distance(secondsAgo: number): string {
  if (secondsAgo < -2) return `in ${roughly(-secondsAgo)}`;
  return secondsAgo < 2 ? 'just now' : `${roughly(secondsAgo)} ago`;
}

function roughly(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} days`;
}
