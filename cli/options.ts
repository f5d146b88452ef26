import { InvalidArgumentError } from 'commander';
import { resourceNames } from '../resources/index.ts';
import { UsageError } from './errors.ts';

/** A whole number from 0. */
export function countOption(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** For options that may be given several times. */
export function listOption(text: string, before: string[] = []): string[] {
  return [...before, text];
}

/** Throws UsageError for names that are no resources. */
export function checkResources(resources: readonly string[]): void {
  const unknown = resources.filter((resource) => !resourceNames.includes(resource));
  if (unknown.length === 0) return;
  throw new UsageError(
    `There is no resource ${unknown.join(', ')}. The resources are ${resourceNames.join(', ')}.`,
  );
}
