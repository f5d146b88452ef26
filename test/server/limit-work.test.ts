import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { createGuardedServer } from '../../server/guarded-server.ts';
import { limitWork } from '../../server/limit-work.ts';
import { eventually } from '../support/eventually.ts';

test('requests beyond the limit wait, and the next one begins when one is done', async () => {
  const { ask, begun, finish } = await open(2);
  for (const name of ['a', 'b', 'c']) await ask(name);
  expect(begun).toEqual(['a', 'b']);
  finish('b');
  await begins(begun, 'c');
});

test('work counts until it is done, even if its client has hung up', async () => {
  const { ask, begun, finish } = await open(1);
  const a = await ask('a');
  await a.hangUp();
  await ask('b');
  expect(begun).toEqual(['a']);
  finish('a');
  await begins(begun, 'b');
});

test('a waiting request is dropped when its client hangs up', async () => {
  const { ask, begun, finish } = await open(1);
  await ask('a');
  const b = await ask('b');
  await ask('c');
  await b.hangUp();
  finish('a');
  await begins(begun, 'c');
  expect(begun).toEqual(['a', 'c']);
});

test('networks take turns', async () => {
  const { ask, begun, finish } = await open(1);
  for (const name of ['a1', 'a2', 'a3']) await ask(name);
  await ask('b1', '127.0.0.2');
  for (const name of ['a1', 'a2', 'b1', 'a3']) {
    await begins(begun, name);
    finish(name);
  }
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
});

test('failed work gives its place to the next request', async () => {
  const { ask, begun, finish } = await open(1);
  const a = await ask('a');
  await ask('b');
  finish('a', new Error('gone wrong'));
  await begins(begun, 'b');
  await eventually(async () => Promise.resolve(a.answer().includes(' 500 ') || undefined));
});

test('an answer that the client does not read ends its connection', async () => {
  const server = createGuardedServer(
    {},
    (_request, response) => {
      response.end('x'.repeat(64 * 1024 * 1024));
    },
    { fetchMilliseconds: 300 },
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    client.destroy();
  });
  client.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [socket] = (await once(server, 'connection')) as [Socket];
  await once(socket, 'close');
});

async function begins(begun: readonly string[], name: string): Promise<void> {
  await eventually(async () => Promise.resolve(begun.includes(name) || undefined));
}

interface Asked {
  readonly answer: () => string;
  readonly hangUp: () => Promise<void>;
}

/** A server that works on each request until told to finish. `ask` waits until the request has arrived. */
async function open(most: number): Promise<{
  ask: (name: string, localAddress?: string) => Promise<Asked>;
  begun: readonly string[];
  finish: (name: string, error?: Error) => void;
}> {
  const begun: string[] = [];
  const sockets = new Map<string, Socket>();
  const working = new Map<string, (error?: Error) => void>();
  const inTurn = limitWork(most);
  const server = fastify({ forceCloseConnections: true });
  server.get<{ Params: { name: string } }>('/:name', async (request, reply) => {
    const { name } = request.params;
    const done = inTurn(reply, async () => {
      begun.push(name);
      await new Promise<void>((resolve, reject) => {
        working.set(name, (error) => {
          if (error === undefined) resolve();
          else reject(error);
        });
      });
      return name;
    });
    sockets.set(name, request.raw.socket);
    return (await done) ?? reply.hijack();
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close());
  const { port } = server.server.address() as AddressInfo;
  return {
    async ask(name, localAddress = '127.0.0.1') {
      let answer = '';
      const client = connect({ port, host: '127.0.0.1', localAddress });
      client.on('data', (piece) => (answer += piece.toString())).on('error', () => undefined);
      client.write(`GET /${name} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      const socket = await eventually(async () => Promise.resolve(sockets.get(name)));
      return {
        answer: () => answer,
        async hangUp() {
          const closed = once(socket, 'close');
          client.destroy();
          await closed;
        },
      };
    },
    begun,
    finish: (name, error) => working.get(name)?.(error),
  };
}
