import { InvalidArgumentError, Option } from 'commander';
import { formatDuration, parseDuration } from '../config/duration.ts';

/** Milliseconds, or `off`, since an option cannot be null. */
export type DurationOrOff = number | 'off';

/** Creates an option that takes a duration within these bounds, in milliseconds; with `off`, it takes "off" too. */
export function durationOption(
  flags: string,
  description: string,
  { least, most, off = false }: { least: number; most: number; off?: boolean },
): Option {
  const bounds = `from ${formatDuration(least)} to ${formatDuration(most)}`;
  const orOff = off ? ', or "off"' : '';
  return new Option(flags, `${description}, ${bounds}${orOff}`).argParser((text): DurationOrOff => {
    if (off && text === 'off') return text;
    const milliseconds = parseDuration(text);
    if (milliseconds !== undefined && milliseconds >= least && milliseconds <= most) return milliseconds;
    throw new InvalidArgumentError(`It must be a duration ${bounds}, like 7d${orOff}.`);
  });
}

/** Converts the option to its stored form. */
export function asMilliseconds(duration: DurationOrOff): number | null {
  return duration === 'off' ? null : duration;
}
