import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Closes a connection on which requests come before earlier ones are answered. No browser, probe or webhook sends so; who does has a
 * thousand requests worked on for one packet, and need not read an answer. Call it before routes are added.
 */
export function refusePipelines(server: FastifyInstance): void {
  const unanswered = new WeakMap<Socket, number>();
  server.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const count = (unanswered.get(socket) ?? 0) + 1;
    if (count > mostUnanswered || socket.destroyed) {
      socket.destroy();
      reply.hijack();
      return;
    }
    unanswered.set(socket, count);
    reply.raw.once('close', () => {
      unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1);
    });
    done();
  });
}

/** An answer may arrive, and the next request with it, before this process hears that it was sent. */
const mostUnanswered = 4;
