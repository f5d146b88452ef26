import { InvalidArgumentError } from 'commander';

/** A whole number from 0. */
export function countOption(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** For options that may be given several times. */
export function listOption(text: string, before: string[] = []): string[] {
  return [...before, text];
}
