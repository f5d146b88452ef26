import { setTimeout as wait } from 'node:timers/promises';
import { asyncLocalStorage as activityContext } from '@temporalio/activity';
import type { ActivitySlotInfo, CustomSlotSupplier } from '@temporalio/worker';
import type { ApiClient } from '../source/api-client.ts';
import { pagingQueue } from '../temporal/task-queues.ts';

/** The slots in which a process reads pages, and the activities that wait for the service without a slot. */
export interface PagingSlots {
  /** Supplies slots to Temporal's worker, which reserves one before it takes a task. */
  readonly supplier: CustomSlotSupplier<ActivitySlotInfo>;
  /** Wraps the client for activities: while one waits long for an answer, another activity may use its slot. */
  lendWhileWaiting(api: ApiClient): ApiClient;
  /** Waits within an activity, and frees its slot for others at once. Rejects once aborted. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * Limits concurrent pages. A slot stands for the cost of a page: a Postgres connection, memory, CPU. Waiting for the service costs none of
 * these, so after `afterMilliseconds` (or at once during a pause or when the budget delays it), an activity's slot is lent to another one. When
 * its answer arrives, it takes the next free slot, ahead of activities that have not begun. Otherwise the lists of one company, whose requests
 * may take two minutes each, would fill all slots of a process (7 lists, 4 slots by default), and every other company would wait.
 */
export function createPagingSlots({
  slots,
  afterMilliseconds = 2_000,
}: {
  readonly slots: number;
  readonly afterMilliseconds?: number;
}): PagingSlots {
  const returning = new Set<() => void>();
  const beginning = new Set<() => void>();
  const waiting = new WeakSet<object>();
  /** The slots of activities that are working. */
  let working = 0;
  /**
   * Slots with which Temporal polls for tasks, for up to a minute at a time. An answer does not wait for these, so twice `slots` may work
   * for a moment; no new activity begins until they have ended.
   */
  let asking = 0;
  let lent = 0;

  return {
    supplier: {
      type: 'custom',
      async reserveSlot(_, signal) {
        signal.throwIfAborted();
        if (mayBegin()) asking += 1;
        // Temporal requires exactly this reason.
        else if (!(await turnIn(beginning, signal))) throw signal.reason;
        return {};
      },
      tryReserveSlot() {
        if (!mayBegin()) return null;
        asking += 1;
        return {};
      },
      markSlotUsed() {
        asking -= 1;
        working += 1;
      },
      releaseSlot({ slotInfo }) {
        if (slotInfo === undefined) asking -= 1;
        else working -= 1;
        handOn();
      },
    },
    lendWhileWaiting: (api) => ({
      list: (request) => lendWhile(request, (on) => api.list({ ...request, ...on })),
      fetch: (request) => lendWhile(request, (on) => api.fetch({ ...request, ...on })),
      close: () => api.close(),
    }),
    pause: (milliseconds, signal) =>
      lendWhile({ signal }, (on) => {
        on?.onHeldBack();
        return wait(milliseconds, undefined, { signal });
      }),
  };

  /** Takes the slot back before the answer is parsed: until then, a waiting answer is only bytes. */
  async function lendWhile<Answer>(
    { awaited, signal }: Pick<Parameters<ApiClient['list']>[0], 'awaited' | 'signal'>,
    ask: (on?: { onHeldBack: () => void; onReceived: () => Promise<void> }) => Promise<Answer>,
  ): Promise<Answer> {
    const activity = activityContext.getStore();
    // An activity has only one slot to lend, even if it waits for several answers.
    if (activity?.info.taskQueue !== pagingQueue || waiting.has(activity)) return ask();
    waiting.add(activity);
    const loan = lendLater(awaited);
    let isOver = false;
    const end = async (): Promise<void> => {
      if (isOver) return;
      isOver = true;
      waiting.delete(activity);
      if (loan.end()) await takeBack(signal);
    };
    try {
      return await ask({ onHeldBack: loan.lendAtOnce, onReceived: end });
    } finally {
      await end();
    }
  }

  /** `end` returns whether the slot was lent. */
  function lendLater(awaited: Promise<void> = Promise.resolve()): {
    lendAtOnce: () => void;
    end: () => boolean;
  } {
    let timer: NodeJS.Timeout | undefined;
    let isLent = false;
    let isOver = false;
    const lend = (): void => {
      // At the limit, the timer retries until another activity's answer has arrived.
      if (isLent || lent >= mostLent) return;
      isLent = true;
      lent += 1;
      working -= 1;
      handOn();
    };
    void awaited.then(() => {
      if (!isOver) timer = setInterval(lend, afterMilliseconds);
    });
    return {
      lendAtOnce: () => {
        void awaited.then(() => {
          if (!isOver) lend();
        });
      },
      end: () => {
        isOver = true;
        clearInterval(timer);
        return isLent;
      },
    };
  }

  async function takeBack(signal: AbortSignal | undefined): Promise<void> {
    // A canceled activity has little left to do, and must not wait for a slot.
    if (mayGoOn() || signal?.aborted === true || !(await turnIn(returning, signal))) working += 1;
    lent -= 1;
  }

  function mayGoOn(): boolean {
    return working < slots;
  }

  function mayBegin(): boolean {
    return working + asking < slots && returning.size === 0;
  }

  function handOn(): void {
    for (const next of returning) {
      if (!mayGoOn()) return;
      working += 1;
      next();
    }
    for (const next of beginning) {
      if (!mayBegin()) return;
      asking += 1;
      next();
    }
  }

  /** Resolves with true once it holds a slot, and with false if it was aborted before. */
  function turnIn(queue: Set<() => void>, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isTurn: boolean): void => {
        queue.delete(go);
        signal?.removeEventListener('abort', leave);
        resolve(isTurn);
      };
      const go = (): void => {
        end(true);
      };
      const leave = (): void => {
        end(false);
      };
      queue.add(go);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}

/**
 * Half of the connections to the service, so that other requests find one. One company cannot take them all: it has at most 18 activities at
 * a time (7 lists each of a sync and a reconcile, 3 of a backfill, and a tick), plus 3 for each further backfill.
 */
const mostLent = 128;
