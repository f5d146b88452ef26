import { InvalidArgumentError, Option } from 'commander';
import { resourcesNamed } from '../resources/index.ts';

/** A whole number from 0. */
export function countOption(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** A whole number within these bounds. */
export function countBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = countOption(text);
    if (count >= least && count <= most) return count;
    const [from, to] = [least, most].map((bound) => bound.toLocaleString('en-US'));
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

/** How many lines to show: none would read as if there were none. */
export const limitOption = countBetween(1, 999_999_999);

/** Port 0 takes a free one. */
export const portOption = countBetween(0, 65_535);

/** For options that may be given several times. */
function listOption(text: string, before: string[] = []): string[] {
  return [...before, text];
}

export function resourceOption(): Option {
  const help = 'one resource only; may be given several times';
  return new Option('--resource <resource>', help).argParser(listOption);
}

export function takeOverOption(): Option {
  const help = 'replace another warehouse or environment as owner of the Temporal namespace';
  return new Option('--take-over', help).default(false);
}

/**
 * The resources of a run as its input has them: none named, all. Throws UnknownResource for names that are no resources, before anything is asked
 * of the database or of Temporal.
 */
export function resourcesInput(names: readonly string[]): { resources?: string[] } {
  resourcesNamed(names);
  return names.length === 0 ? {} : { resources: [...names] };
}
