import { InvalidArgumentError } from 'commander';
import { resourceNames, resources } from '../resources/index.ts';
import type { Resource } from '../resources/resource.ts';
import { UsageError } from './errors.ts';

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

/** Port 0 takes a free one. */
export const portOption = countBetween(0, 65_535);

/** For options that may be given several times. */
export function listOption(text: string, before: string[] = []): string[] {
  return [...before, text];
}

/** Throws UsageError for names that are no resources. */
export function checkResources(names: readonly string[]): void {
  const unknown = names.filter((resource) => !resourceNames.includes(resource));
  if (unknown.length > 0) throw noResource(unknown);
}

/** Throws UsageError for a name that is no resource. */
export function resourceNamed(name: string): Resource {
  const resource = resources.find((one) => one.name === name);
  if (resource === undefined) throw noResource([name]);
  return resource;
}

function noResource(names: readonly string[]): UsageError {
  return new UsageError(
    `There is no resource ${names.join(', ')}. The resources are ${resourceNames.join(', ')}.`,
  );
}
