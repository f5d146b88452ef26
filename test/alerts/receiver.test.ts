import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { AlertMessage } from '../../worker/alerts/alert-message.ts';
import { openReceiver, type Receiver } from '../../worker/alerts/receiver.ts';
import { startReceiver } from './alert-receiver.ts';

test('a receiver that never answers times out, even during garbage collection', async () => {
  const { url } = Object.assign(await startReceiver(), { answer: 'nothing' as const });
  collectGarbageAllTheTime();
  expect(await send(receiverAt(url, 500))).toBe('unknown');
});

test('a receiver with an endless response counts as reached, and its connection is closed', async () => {
  const server = await startServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    flood(socket, '4\r\nmore\r\n');
  });
  expect(await send(receiverAt(server.url, never))).toBe('delivered');
  await server.closed;
});

test('a receiver with endless informational responses is cut off before the timeout, and its connection is closed', async () => {
  const server = await startServer((socket) => {
    flood(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
  });
  expect(await send(receiverAt(server.url, never))).toBe('unknown');
  await server.closed;
});

test('a receiver that only says it is processing times out, and its connection is closed', async () => {
  const server = await startServer((socket) => {
    socket.write('HTTP/1.1 102 Processing\r\n\r\n');
  });
  collectGarbageAllTheTime();
  expect(await send(receiverAt(server.url, 500))).toBe('unknown');
  await server.closed;
});

test('a receiver may send a few informational responses first', async () => {
  const server = await startServer((socket) => {
    socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3));
    socket.end('HTTP/1.1 204 No Content\r\n\r\n');
  });
  expect(await send(receiverAt(server.url, never))).toBe('delivered');
});

/** Longer than the test. */
const never = 3_600_000;

function receiverAt(url: string, deadlineMilliseconds: number): Receiver {
  return openReceiver({ url, version: '1.2.3', logger: pino({ level: 'silent' }), deadlineMilliseconds });
}

function send(receiver: Receiver): ReturnType<Receiver['send']> {
  return receiver.send(message, new AbortController().signal);
}

const message: AlertMessage = {
  text: 'Daybook: it failed.',
  event: 'open',
  alert: {
    id: 1,
    kind: 'failed',
    connection: 'acme',
    message: 'It failed.',
    remedy: 'Run it again.',
    opened_at: new Date(0),
    resolved_at: null,
  },
};

/** Collects garbage continually until the test is over. */
function collectGarbageAllTheTime(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const timer = setInterval(collect, 50);
  onTestFinished(() => {
    clearInterval(timer);
  });
}

/** Starts a server that answers a request with any bytes. `closed` resolves when its first connection is closed. */
async function startServer(
  answer: (socket: Socket) => void,
): Promise<{ readonly url: string; readonly closed: Promise<unknown> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // A client that cuts off a flood resets the connection.
    socket.on('error', () => undefined);
    socket.on('close', () => server.emit('closed'));
    socket.once('data', () => {
      answer(socket);
    });
  });
  const closed = once(server, 'closed');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, closed };
}

/** Writes the text 200,000 times, far more than connections buffer, unless it is cut off. Then writes nothing. */
function flood(socket: Socket, text: string): void {
  const many = text.repeat(1_000);
  const write = (left: number): void => {
    if (!socket.destroyed && left > 0) socket.write(many, () => setImmediate(write, left - 1));
  };
  write(200);
}
