import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * A separate process that opens connections, each with a webhook whose last byte never comes. It replaces closed connections after half a
 * second. Takes port, bytes of a body and connections; prints "under way" when all are open once, and each status that it received on a
 * line.
 */
const [port, bytes, connections = 0] = process.argv.slice(2).map(Number);
let opened = 0;
for (let number = 0; number < connections; number += 1) void attack();

async function attack(): Promise<void> {
  for (;;) {
    const socket = connect(port ?? 0, '127.0.0.1').on('error', () => undefined);
    socket.once('connect', () => {
      opened += 1;
      if (opened === connections) process.stdout.write('under way\n');
    });
    socket.once('data', (said: Buffer) => {
      const [status = ''] = /\d{3}/.exec(String(said).slice(9)) ?? [];
      process.stdout.write(`${status}${/^retry-after: \d/im.test(String(said)) ? ' Retry-After' : ''}\n`);
    });
    socket.write(
      `POST /webhooks HTTP/1.1\r\nHost: localhost\r\nX-Service-Signature: sha256=no\r\nContent-Length: ${bytes ?? 0}\r\n\r\n`,
    );
    socket.write(Buffer.alloc((bytes ?? 0) - 1, 'x'));
    await once(socket, 'close');
    await wait(500);
  }
}
