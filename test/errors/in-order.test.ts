import { expect, test } from 'vitest';
import { inOrder } from '../../errors/in-order.ts';

test('every step runs even after one that fails, and the failure is thrown at the end', async () => {
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

test('a step that throws synchronously does not stop the next step', async () => {
  const taken: string[] = [];
  const throws = (): Promise<void> => {
    throw new Error('at once');
  };
  await expect(inOrder([throws, () => Promise.resolve(taken.push('next'))])).rejects.toThrow('at once');
  expect(taken).toEqual(['next']);
});
