import type { FastifyReply } from 'fastify';
import { networkOf } from './largest-network.ts';

/** Resolves with undefined, without doing the work, if the client disconnects before its turn. */
export type WorkInTurn = <Result>(
  reply: FastifyReply,
  work: () => Promise<Result>,
) => Promise<Result | undefined>;

/**
 * Limits the number of requests in progress. The others wait; networks take turns, and each network's requests keep their order. Started
 * work counts until it is done, even if its client is gone. Otherwise, a client that asks and hangs up hundreds of times a second would keep
 * the process and its Postgres connections busy with answers for nobody.
 *
 * `work` must not resolve with the reply, which would wait for the client to fetch the answer.
 */
export function limitWork(most: number): WorkInTurn {
  const queues = new Map<string, Set<Begin>>();
  let working = 0;

  return async (reply, work) => {
    if (!(await waitForTurn(reply))) return undefined;
    try {
      return await work();
    } finally {
      working -= 1;
      beginNext();
    }
  };

  /** Resolves with true when the turn has come, and with false if the client is gone. */
  function waitForTurn({ request }: FastifyReply): Promise<boolean> {
    const { socket } = request.raw;
    return new Promise((resolve) => {
      if (socket.destroyed) {
        resolve(false);
        return;
      }
      const network = networkOf(socket.remoteAddress);
      const queue = queues.get(network) ?? new Set();
      const leave = (): void => {
        queue.delete(begin);
        resolve(false);
      };
      const begin = (): void => {
        socket.off('close', leave);
        resolve(true);
      };
      socket.once('close', leave);
      queues.set(network, queue.add(begin));
      beginNext();
    });
  }

  function beginNext(): void {
    for (const [network, queue] of queues) {
      if (working >= most) return;
      const [begin] = queue;
      // The network's next turn comes after those of all others.
      queues.delete(network);
      if (begin === undefined) continue;
      queue.delete(begin);
      if (queue.size > 0) queues.set(network, queue);
      working += 1;
      begin();
    }
  }
}

type Begin = () => void;
