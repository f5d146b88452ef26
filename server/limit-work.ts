import type { FastifyReply } from 'fastify';
import { networkOf } from './largest-network.ts';

/** Resolves with undefined, and does no work, when the client is gone before its turn has come. */
export type WorkInTurn = <Result>(
  reply: FastifyReply,
  work: () => Promise<Result>,
) => Promise<Result | undefined>;

/**
 * Works on at most so many requests at a time. The others wait; networks take turns, each with its requests in the order in which they came.
 * What has begun counts until it is done, whatever has become of its client: who asks and hangs up, hundreds of times a second, would
 * otherwise have the process, and its connections to Postgres, busy with answers for nobody.
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

  /** Resolves with whether the client is still there. */
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
      // Its next turn is after those of all others.
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
