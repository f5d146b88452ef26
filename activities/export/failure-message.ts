import { codeOf } from '../../errors/code-of.ts';
import { isDatabaseAway } from '../../warehouse/is-database-away.ts';
import type { ExportFailure } from './export-job.ts';

/** An error for the pipe: our own in their own words; of any other the place and the code, for a driver's message may quote a record. */
export function failureMessage(error: unknown): ExportFailure {
  if (!(error instanceof Error)) return { kind: 'unexpected', code: typeof error, stack: '' };
  const { name, message, stack = '' } = error;
  if ('handling' in error) return { kind: 'known', name, message, handling: String(error.handling) };
  const code = String(codeOf(error) ?? '');
  return isDatabaseAway(error)
    ? { kind: 'database away', code }
    : { kind: 'unexpected', code, stack: stack.replace(message, '…') };
}

/** What the worker makes of it. */
export class ExportFailed extends Error {
  override readonly name: string;
  readonly handling: string;

  constructor(known: { name: string; message: string; handling: string }) {
    super(known.message);
    this.name = known.name;
    this.handling = known.handling;
  }
}

/** The error as it was, as far as it may be known. */
export function errorFrom(failure: ExportFailure): Error {
  if (failure.kind === 'known') return new ExportFailed(failure);
  if (failure.kind === 'database away')
    return Object.assign(new Error('Connection terminated'), {
      code: failure.code === '' ? '08006' : failure.code,
    });
  const unexpected = Object.assign(new Error('The export failed'), { code: failure.code });
  unexpected.stack = failure.stack;
  return unexpected;
}
