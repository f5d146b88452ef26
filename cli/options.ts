import { InvalidArgumentError, Option } from 'commander';
import { resourcesNamed } from '../resources/index.ts';

/** Parses a whole number from 0. */
export function countOption(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** Parses a whole number within these bounds. */
export function countBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = countOption(text);
    if (count >= least && count <= most) return count;
    const [from, to] = [least, most].map((bound) => bound.toLocaleString('en-US'));
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

/** The number of lines to show. 0 is refused, because its output would look as if there were nothing. */
export const limitOption = countBetween(1, 999_999_999);

/** Port 0 picks a free port. */
export const portOption = countBetween(0, 65_535);

/** Collects an option that may be given several times. */
function listOption(text: string, before: string[] = []): string[] {
  return [...before, text];
}

export function resourceOption(): Option {
  const help = 'only this resource; repeat the option for more';
  return new Option('--resource <resource>', help).argParser(listOption);
}

export function takeOverOption(): Option {
  const help = 'replace another warehouse or environment as owner of the Temporal namespace';
  return new Option('--take-over', help).default(false);
}

/**
 * Returns the resources as a run's input has them; no names mean all. Throws UnknownResource for unknown names, before the database
 * or Temporal is contacted.
 */
export function resourcesInput(names: readonly string[]): { resources?: string[] } {
  resourcesNamed(names);
  return names.length === 0 ? {} : { resources: [...names] };
}
