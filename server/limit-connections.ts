import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Holds a server to so many connections at a time. When one more comes, the one that has waited longest for its client (for a request,
 * the rest of one, or an answer to be fetched) is closed; when all are being answered, the one that takes longest. So nobody keeps others
 * out by holding connections open; Node itself would turn away whoever comes then, probes too.
 */
export function limitConnections(server: Server, most: number): void {
  /** Each in the order in which it began. */
  const waiting = new Set<Socket>();
  const answered = new Set<Socket>();

  server.on('connection', (socket) => {
    waiting.add(socket);
    socket.once('close', () => {
      waiting.delete(socket);
      answered.delete(socket);
    });
    if (waiting.size + answered.size <= most) return;
    // The newest of those that wait is the one that has just come.
    const [longest] = waiting.size > 1 ? waiting : answered;
    waiting.delete(longest ?? socket);
    answered.delete(longest ?? socket);
    longest?.destroy();
  });

  // Before the request is answered, which may be at once.
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    const begin = (): void => {
      move(socket, { from: waiting, to: answered });
    };
    if (hasBody(request)) request.once('end', begin);
    else begin();
    // All of the answer is handed over; from now on the client is waited for.
    response.once('prefinish', () => {
      move(socket, { from: answered, to: waiting });
    });
  });
}

function move(socket: Socket, { from, to }: { from: Set<Socket>; to: Set<Socket> }): void {
  if (from.delete(socket)) to.add(socket);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
