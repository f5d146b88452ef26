import { setTimeout as wait } from 'node:timers/promises';
import { asyncLocalStorage as activityContext } from '@temporalio/activity';
import type { ActivitySlotInfo, CustomSlotSupplier } from '@temporalio/worker';
import type { ApiClient } from '../source/api-client.ts';
import { pagingQueue } from '../temporal/task-queues.ts';

/** The slots in which a process reads pages, and what waits for the service without one. */
export interface PagingSlots {
  /** Gives them to Temporal's worker, which asks for one before it takes a task. */
  readonly supplier: CustomSlotSupplier<ActivitySlotInfo>;
  /** The client for activities: while one waits long for an answer, its slot is another's. */
  lendWhileWaiting(api: ApiClient): ApiClient;
  /** Waits within an activity, whose slot is another's at once; rejects once aborted. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * A slot bounds what a page costs: a connection of Postgres, memory, computing. An activity that only waits for the service costs none of
 * these, so after `afterMilliseconds`, or at once while it pauses or the budget holds it back, another activity may begin in its slot, and
 * with its answer it waits for the next one that is free, before any that has not begun. Else the lists of one company, whose requests may
 * take two minutes each, would fill all slots of a process (7 lists, 4 slots by default) and every other company would wait.
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
  /** Slots of activities that work. */
  let working = 0;
  /**
   * Slots with which Temporal polls for tasks, for a minute at a time. An answer does not wait for these, so twice as many as `slots` may work
   * for a moment: no new one begins until they have ended.
   */
  let asking = 0;
  let lent = 0;

  return {
    supplier: {
      type: 'custom',
      async reserveSlot(_, signal) {
        signal.throwIfAborted();
        if (mayBegin()) asking += 1;
        // Temporal wants exactly this reason.
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

  /** The slot is back before the answer is parsed: those that wait for one are bytes. */
  async function lendWhile<Answer>(
    { awaited, signal }: Pick<Parameters<ApiClient['list']>[0], 'awaited' | 'signal'>,
    ask: (on?: { onHeldBack: () => void; onReceived: () => Promise<void> }) => Promise<Answer>,
  ): Promise<Answer> {
    const activity = activityContext.getStore();
    // An activity has one slot to lend, however many answers it waits for.
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

  /** `end` tells whether the slot was lent. */
  function lendLater(awaited: Promise<void> = Promise.resolve()): {
    lendAtOnce: () => void;
    end: () => boolean;
  } {
    let timer: NodeJS.Timeout | undefined;
    let isLent = false;
    let isOver = false;
    const lend = (): void => {
      // Tried again after as long, until another's answer has come.
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
    // What is cancelled has little left to do, and must not wait for it.
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

  /** True with a slot in hand, false when it was aborted before. */
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
 * Half of the connections to the service, so that requests of others find one. One company does not take them all: it has at most 18 activities
 * at a time, for 7 lists each of a sync and a reconcile, 3 of a backfill, and a tick; 3 more for each further backfill.
 */
const mostLent = 128;
