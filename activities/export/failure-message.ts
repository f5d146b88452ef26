import { codeOf } from '../../errors/code-of.ts';
import { isOurs } from '../../errors/is-ours.ts';
import { isDatabaseAway } from '../../warehouse/session/is-database-away.ts';
import type { ExportFailure } from './export-job.ts';
import { placeOfFailure } from './place-of-failure.ts';

/**
 * Converts an error for the pipe. Our own errors keep their message; others are reduced to place, connections and code, because a driver's
 * message may quote a record.
 */
export function failureMessage(error: unknown): ExportFailure {
  if (!(error instanceof Error)) return { kind: 'unexpected', code: typeof error, place: '', stack: '' };
  const { name, message, stack = '' } = error;
  if (isOurs(error)) return { kind: 'known', name, message, handling: String(error.handling) };
  const code = String(codeOf(error) ?? '');
  return isDatabaseAway(error)
    ? { kind: 'database away', code }
    : {
        kind: 'unexpected',
        code: code === '' ? duckDbErrorKind(error) : code,
        place: placeOfFailure(error),
        stack: stack.replace(message, '…'),
      };
}

/** DuckDB has no codes; its messages begin with the kind of error. */
function duckDbErrorKind({ message }: Error): string {
  return /^([A-Z][A-Za-z ]{1,30}) Error: /.exec(message)?.[1] ?? '';
}

/** One of our errors, rebuilt in the worker. */
class ExportFailed extends Error {
  override readonly name: string;
  readonly handling: string;

  constructor(known: { name: string; message: string; handling: string }) {
    super(known.message);
    this.name = known.name;
    this.handling = known.handling;
  }
}

/** Rebuilds the error, with the facts that may be known. */
export function errorFrom(failure: ExportFailure): Error {
  if (failure.kind === 'known') return new ExportFailed(failure);
  if (failure.kind === 'database away')
    return Object.assign(new Error('Connection terminated'), {
      code: failure.code === '' ? '08006' : failure.code,
    });
  const { code, place } = failure;
  const unexpected = Object.assign(new Error('The export failed'), { code, place });
  unexpected.stack = failure.stack;
  return unexpected;
}
