import type { Option } from 'commander';
import { longestInterval } from '../../../config/duration.ts';
import { durationOption } from '../../duration-option.ts';

/** Temporal has no shorter interval. */
const shortestInterval = 1_000;

/** Creates an option that takes a time between two runs, or `off`. */
export function everyOption(flags: string, description: string): Option {
  return durationOption(flags, description, { least: shortestInterval, most: longestInterval, off: true });
}
