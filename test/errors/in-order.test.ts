import { expect, test } from 'vitest';
import { inOrder } from '../../errors/in-order.ts';

test('each step is taken, also after one that fails, and the first failure is thrown at the end', async () => {
  const taken: string[] = [];
  const fails = (name: string) => (): Promise<void> => {
    taken.push(name);
    return Promise.reject(new Error(name));
  };
  const works = (name: string) => (): Promise<void> => {
    taken.push(name);
    return Promise.resolve();
  };
  await expect(inOrder([works('http'), fails('worker'), fails('pool'), works('servers')])).rejects.toThrow(
    'worker',
  );
  expect(taken).toEqual(['http', 'worker', 'pool', 'servers']);
});

test('a step that throws before it returns holds up none', async () => {
  const taken: string[] = [];
  const throws = (): Promise<void> => {
    throw new Error('at once');
  };
  await expect(inOrder([throws, () => Promise.resolve(taken.push('next'))])).rejects.toThrow('at once');
  expect(taken).toEqual(['next']);
});
