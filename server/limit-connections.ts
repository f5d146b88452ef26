import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { largestNetwork, networkOf, type Holding } from './largest-network.ts';

/**
 * Limits the number of open connections. When one more comes, a connection of the network with the most of them is closed: the one that
 * has waited longest for its client (to send a request or the rest of it, or to fetch an answer), or, if all are being answered, the one that
 * has taken longest. So nobody can shut others out by holding connections open. Node itself would reject newcomers instead, probes included.
 */
export function limitConnections(server: Server, most: number): void {
  const open = new Map<Socket, Connection>();
  /** Both sets are ordered by when the state began. */
  const waiting = new Set<Connection>();
  const answered = new Set<Connection>();

  server.on('connection', (socket) => {
    const connection = { socket, network: networkOf(socket.remoteAddress), share: 1 };
    open.set(socket, connection);
    waiting.add(connection);
    socket.once('close', () => {
      forget(connection);
    });
    if (open.size > most) makeRoomFor(connection);
  });

  // Must run before the request is answered, which may happen at once.
  server.prependListener('request', (request, response) => {
    const connection = open.get(request.socket);
    if (connection === undefined) return;
    const begin = (): void => {
      move(connection, { from: waiting, to: answered });
    };
    if (hasBody(request)) request.once('end', begin);
    else begin();
    // The whole answer is handed over; from now on the server waits for the client.
    response.once('prefinish', () => {
      move(connection, { from: answered, to: waiting });
    });
  });

  function makeRoomFor(newest: Connection): void {
    const network = largestNetwork(open.values());
    const isTheirs = (one: Connection): boolean => one.network === network && one !== newest;
    const closed = first(waiting, isTheirs) ?? first(answered, isTheirs) ?? newest;
    forget(closed);
    closed.socket.destroy();
  }

  function forget(connection: Connection): void {
    open.delete(connection.socket);
    waiting.delete(connection);
    answered.delete(connection);
  }
}

interface Connection extends Holding {
  readonly socket: Socket;
}

function move(connection: Connection, { from, to }: { from: Set<Connection>; to: Set<Connection> }): void {
  if (from.delete(connection)) to.add(connection);
}

function first<One>(all: Iterable<One>, isWanted: (one: One) => boolean): One | undefined {
  for (const one of all) if (isWanted(one)) return one;
  return undefined;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
