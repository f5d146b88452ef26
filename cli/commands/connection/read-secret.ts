import { text } from 'node:stream/consumers';
import { UsageError } from '../../errors.ts';

/**
 * Reads a secret from standard input or an environment variable. The command line would expose it in the process list. `options` names
 * the command's options for the error message.
 */
export async function readSecret(
  what: string,
  from: { stdin: boolean; variable: string | undefined; options: string },
): Promise<string> {
  const { stdin, variable } = from;
  if (stdin === (variable !== undefined))
    throw new UsageError(`Say where the ${what} comes from: either ${from.options}.`);
  const secret = (variable === undefined ? await text(process.stdin) : (process.env[variable] ?? '')).trim();
  if (secret === '') {
    throw new UsageError(
      variable === undefined
        ? `Standard input held no ${what}.`
        : `${isPlainName(variable) ? `The variable ${variable}` : 'The variable'} is not set or empty. Give its name, not the ${what} itself.`,
    );
  }
  return secret;
}

/** True for words in capitals, as in names of variables. Anything else may be the secret itself, and must not be repeated. */
function isPlainName(text: string): boolean {
  return text.length <= 40 && /^[A-Z]+\d{0,3}(?:_[A-Z]*\d{0,3})*$/.test(text);
}
