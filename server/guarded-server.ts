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
 * A server that closes a connection whose client has it work for nothing, before anything looks at what it sends:
 * - requests that come before earlier ones are answered: no browser, probe or webhook sends so, and one packet holds a thousand;
 * - a body in pieces of a few bytes, each of which costs a call, however small it is, before and after the answer;
 * - an expectation other than `100-continue`;
 * - an answer that it does not fetch within two minutes: a phone on a slow network has the dashboard by then.
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

/** An answer may arrive, and the next request with it, before this process hears that it was sent. */
const mostUnanswered = 4;

/**
 * What is left of a body when its request is answered early is read away, or the client would hear of a broken connection instead of the
 * answer. Node would do so by itself, past everybody who counts pieces.
 */
function drain(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  request.read(0);
}

/** Pieces are counted where the parser hands them over: a listener for them would set the body in motion before its reader is there. */
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
