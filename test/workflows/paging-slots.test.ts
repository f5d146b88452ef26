import { setTimeout as wait } from 'node:timers/promises';
import { asyncLocalStorage as activityContext, type Context } from '@temporalio/activity';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ApiClient, ListRequest } from '../../source/api-client.ts';
import type { ListPage } from '../../source/responses.ts';
import { pagingQueue } from '../../temporal/task-queues.ts';
import { createPagingSlots, type PagingSlots } from '../../worker/paging-slots.ts';

const page = { records: [], nextCursor: null } as unknown as ListPage;
const request: ListRequest = { accessToken: 'token', path: '/accounting/bills', plural: 'bills', query: {} };
const soon = 50;
const long = 4 * soon;

describe('the slot of an activity', () => {
  test('is lent while its activity only waits for the service, and the answer waits until a slot is free', async () => {
    const { begin, end, ask } = open({ slots: 1 });
    await begin();
    const asked = ask();
    await begin();
    asked.answer();
    expect(await isSettled(asked.page)).toBe(false);
    end();
    expect(await asked.page).toBe(page);
  });

  test('is lent at once while the budget allows no request, unless the activity still works on the page before', async () => {
    const { begin, end, ask } = open({ slots: 1, afterMilliseconds: 60_000 });
    await begin();
    let landed = (): void => undefined;
    const asked = ask({
      awaited: new Promise((resolve) => {
        landed = resolve;
      }),
    });
    asked.holdBack();
    const next = begin();
    expect(await isSettled(next)).toBe(false);
    landed();
    await next;
    asked.answer();
    end();
    expect(await asked.page).toBe(page);
  });

  test('is lent once by each of two overlapping requests', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { begin, end, ask } = open({ slots: 1 });
    const activity = { info: { taskQueue: pagingQueue } };
    await begin();
    const first = ask({}, undefined, activity);
    await vi.advanceTimersByTimeAsync(soon);
    await begin();
    first.answer();
    // It holds its response while it waits for the slot.
    expect(await isSettled(first.page)).toBe(false);
    const second = ask({}, undefined, activity);
    end();
    expect(await isSettled(first.page)).toBe(true);
    second.answer();
    await second.page;
    expect(vi.getTimerCount()).toBe(0);
  });

  test('goes to an answer before it goes to another task', async () => {
    const { begin, end, ask } = open({ slots: 1 });
    await begin();
    const asked = ask();
    await begin();
    asked.answer();
    const third = begin();
    await wait(soon);
    end();
    expect(await asked.page).toBe(page);
    expect(await isSettled(third)).toBe(false);
    end();
    await third;
  });

  test('goes to an answer without waiting for a poll of Temporal that has no task yet', async () => {
    const { begin, supplier, ask } = open({ slots: 1 });
    await begin();
    const asked = ask();
    await supplier.reserveSlot(context, new AbortController().signal);
    asked.answer();
    expect(await asked.page).toBe(page);
  });

  test('is kept if the answer comes soon', async () => {
    const { begin, ask } = open({ slots: 1 });
    await begin();
    const asked = ask();
    asked.answer();
    expect(await asked.page).toBe(page);
    expect(await isSettled(begin())).toBe(false);
  });

  test('is kept while the activity still works on the page before', async () => {
    const { begin, ask } = open({ slots: 1 });
    await begin();
    let landed = (): void => undefined;
    const asked = ask({
      awaited: new Promise((resolve) => {
        landed = resolve;
      }),
    });
    const next = begin();
    expect(await isSettled(next)).toBe(false);
    landed();
    await next;
    asked.answer();
  });

  test('is kept by an activity of another queue', async () => {
    const { begin, ask } = open({ slots: 1, taskQueue: 'daybook' });
    await begin();
    ask();
    expect(await isSettled(begin())).toBe(false);
  });

  test('is lent at once while its activity pauses, until the pause ends or is cancelled', async () => {
    const { begin, pause } = open({ slots: 1, afterMilliseconds: 60_000 });
    await begin();
    const abort = new AbortController();
    const paused = pause(60_000, abort.signal);
    await begin();
    abort.abort();
    await expect(paused).rejects.toThrow('aborted');
    const { begin: beginNext, pause: pauseShortly } = open({ slots: 1 });
    await beginNext();
    expect(await isSettled(pauseShortly(1))).toBe(true);
  });

  test('is taken back before the answer is parsed', async () => {
    const { begin, end, ask } = open({ slots: 1 });
    await begin();
    let isParsed = false;
    const asked = ask({}, () => {
      isParsed = true;
    });
    await begin();
    asked.answer();
    expect(await isSettled(asked.page)).toBe(false);
    expect(isParsed).toBe(false);
    end();
    expect(await asked.page).toBe(page);
    expect(isParsed).toBe(true);
  });

  test('is not awaited by a cancelled activity', async () => {
    const { begin, ask } = open({ slots: 1 });
    await begin();
    const abort = new AbortController();
    const asked = ask({ signal: abort.signal });
    await begin();
    asked.answer();
    expect(await isSettled(asked.page)).toBe(false);
    abort.abort();
    expect(await asked.page).toBe(page);
  });
});

/** Uses the slots as Temporal's worker does, and the client as activities do. */
function open({
  slots,
  taskQueue = pagingQueue,
  afterMilliseconds = soon,
}: {
  slots: number;
  taskQueue?: string;
  afterMilliseconds?: number;
}): {
  supplier: PagingSlots['supplier'];
  begin: () => Promise<void>;
  end: () => void;
  ask: (
    more?: Partial<ListRequest>,
    parse?: () => void,
    activity?: unknown,
  ) => { page: Promise<ListPage>; answer: () => void; holdBack: () => void };
  pause: PagingSlots['pause'];
} {
  const pagingSlots = createPagingSlots({ slots, afterMilliseconds });
  const { supplier } = pagingSlots;
  const slotInfo = { type: 'activity', activityType: 'readStream' } as const;
  return {
    supplier,
    async begin() {
      const permit = await supplier.reserveSlot(context, new AbortController().signal);
      supplier.markSlotUsed({ slotInfo, permit });
    },
    end() {
      supplier.releaseSlot({ slotInfo, permit: {} });
    },
    ask(more = {}, parse = () => undefined, activity: unknown = { info: { taskQueue } }) {
      let answer = (): void => undefined;
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      let holdBack = (): void => undefined;
      const list = async ({ onReceived, onHeldBack }: ListRequest): Promise<ListPage> => {
        holdBack = () => onHeldBack?.();
        await answered;
        await onReceived?.();
        parse();
        return page;
      };
      const api = pagingSlots.lendWhileWaiting({ list } as unknown as ApiClient);
      return {
        page: activityContext.run(activity as Context, () => api.list({ ...request, ...more })),
        answer,
        holdBack: () => {
          holdBack();
        },
      };
    },
    pause(milliseconds, signal) {
      const activity: unknown = { info: { taskQueue } };
      return activityContext.run(activity as Context, () => pagingSlots.pause(milliseconds, signal));
    },
  };
}

const context = {
  slotType: 'activity',
  taskQueue: pagingQueue,
  workerIdentity: '',
  workerBuildId: '',
  isSticky: false,
} as const;

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), wait(long, false)]);
}
