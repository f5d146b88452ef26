import { expect, test } from 'vitest';
import { limitConcurrency } from '../../source/concurrency-limit.ts';

test('waiting work runs in turns, one of each caller, the oldest first', async () => {
  const limit = limitConcurrency(1);
  const order: string[] = [];
  const { opened, open } = gate();
  const ran = ['greedy 1', 'greedy 2', 'greedy 3', 'greedy 4', 'modest 1', 'modest 2', 'other 1'].map(
    (name) =>
      limit.run({ of: name.split(' ')[0] ?? '' }, async () => {
        order.push(name);
        if (name === 'greedy 1') await opened;
      }),
  );
  open();
  await Promise.all(ran);
  expect(order).toEqual([
    ...['greedy 1', 'greedy 2', 'modest 1', 'other 1', 'greedy 3', 'modest 2', 'greedy 4'],
  ]);
});

test('work that is aborted while it waits never runs, and holds up no other work', async () => {
  const limit = limitConcurrency(1);
  const { opened, open } = gate();
  const working = limit.run({ of: 'one' }, () => opened);
  const stop = new AbortController();
  const left = limit.run({ of: 'two', signal: stop.signal }, () => Promise.resolve('never'));
  const stays = limit.run({ of: 'two' }, () => Promise.resolve('stays'));
  stop.abort(new Error('enough'));
  await expect(left).rejects.toThrow('enough');
  open();
  await working;
  expect(await stays).toBe('stays');
  expect(await limit.run({ of: 'one' }, () => Promise.resolve('free'))).toBe('free');
});

function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
