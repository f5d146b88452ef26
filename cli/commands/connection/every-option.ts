import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../../worker/config/duration.ts';

/** An option that takes a time between two runs, or `off`: milliseconds, or null. */
export function everyOption(flags: string, description: string): Option {
  return new Option(flags, `${description}, or "off"`).argParser(parseEvery);
}

function parseEvery(text: string): number | null {
  if (text === 'off') return null;
  const milliseconds = parseDuration(text);
  // Temporal knows no shorter one.
  if (milliseconds === undefined || milliseconds < 1_000) {
    throw new InvalidArgumentError('It takes a number and s, m, h or d, like 15m, or "off".');
  }
  return milliseconds;
}
