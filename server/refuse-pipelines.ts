import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { cutOff } from './cut-off.ts';

/**
 * A server that closes a connection on which requests come before earlier ones are answered, before anything looks at them. No browser,
 * probe or webhook sends so; who does has a thousand requests worked on for one packet, and need not read an answer. An expectation
 * other than `100-continue`, which nobody has either, closes it too.
 */
export function createServerWithoutPipelines(options: ServerOptions, handle: RequestListener): Server {
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
    handle(request, response);
  });
  return server.on('checkExpectation', ({ socket }) => {
    cutOff(socket);
  });
}

/** An answer may arrive, and the next request with it, before this process hears that it was sent. */
const mostUnanswered = 4;
