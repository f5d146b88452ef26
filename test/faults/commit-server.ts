import { json } from 'node:stream/consumers';
import { startAnswering, type AnsweringServer } from '../support/answering-server.ts';

/** A process that is about to commit, or that has committed and not yet acted on it. */
export interface PausedProcess {
  /** The product's file that commits. */
  readonly point: string;
  readonly side: 'before' | 'after';
  readonly pid: number;
  readonly ppid: number;
}

/** Starts a server that processes call at each of their commits; they wait until `onPause` is done. */
export function startCommitServer(
  onPause: (passing: PausedProcess) => Promise<void>,
): Promise<AnsweringServer> {
  return startAnswering(async (request) => {
    await onPause((await json(request)) as PausedProcess);
    return '';
  });
}
