import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import type { Socket } from 'node:net';
import { cutOff } from './cut-off.ts';

/**
 * Creates a server that closes abusive connections before anything processes what they send:
 * - pipelined requests: no browser, probe or webhook sends any, and one packet can hold a thousand;
 * - a body in chunks of a few bytes: each chunk costs a call, however small it is, before and after the answer;
 * - an expectation other than `100-continue`;
 * - an answer that the client does not fetch within two minutes: a phone on a slow network has the dashboard by then.
 */
export function createGuardedServer(
  options: ServerOptions,
  handle: RequestListener,
  { fetchMilliseconds = 120_000 } = {},
): Server {
  const unanswered = new WeakMap<Socket, number>();
  const server = createServer(options, (request, response) => {
    const { socket } = request;
    const count = (unanswered.get(socket) ?? 0) + 1;
    if (count > mostUnanswered || socket.destroyed) {
      cutOff(socket);
      return;
    }
    unanswered.set(socket, count);
    response.once('close', () => {
      unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1);
    });
    response.once('prefinish', () => {
      drain(request);
      const patience = setTimeout(() => socket.destroy(), fetchMilliseconds).unref();
      response.once('close', () => {
        clearTimeout(patience);
      });
    });
    refuseCrumbs(request);
    handle(request, response);
  });
  return server.on('checkExpectation', ({ socket }) => {
    cutOff(socket);
  });
}

/** More than one, because a client may get its answer and send the next request before this process learns that the answer was sent. */
const mostUnanswered = 4;

/**
 * Discards the rest of a body whose request was answered early; otherwise the client would see a broken connection instead of the answer.
 * Node would do so itself, but would bypass the code that counts chunks.
 */
function drain(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  request.read(0);
}

/** Counts chunks where the parser delivers them: a `data` listener would start the flow of the body before its reader is attached. */
function refuseCrumbs(request: IncomingMessage): void {
  const push = request.push.bind(request);
  let pieces = 0;
  let bytes = 0;
  request.push = (piece: Buffer | null, encoding) => {
    pieces += 1;
    bytes += piece?.length ?? 0;
    if (piece !== null && pieces > freePieces && bytes < pieces * leastBytesOfPiece) {
      cutOff(request.socket);
      return false;
    }
    return push(piece, encoding);
  };
}

const freePieces = 256;
const leastBytesOfPiece = 128;
