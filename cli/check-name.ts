import { plainName } from '../warehouse/plain-name.ts';
import { UsageError } from './errors.ts';

/** Throws UsageError, with a message that begins with `refusal`, if `name` cannot be the name of a connection or a reader. */
export function checkName(name: string, refusal: string): void {
  if (plainName.test(name)) return;
  throw new UsageError(
    `${refusal}: use lower-case letters, digits and hyphens, at most 63, and begin with a letter or digit.`,
  );
}
