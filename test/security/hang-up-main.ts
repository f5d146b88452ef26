import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * A separate process with its own local address that keeps `many` requests for a page going, four times in one packet, and hangs up before
 * the answer, again and again. Takes port, address, path and the number; prints "under way" after the first second.
 */
const [port, localAddress = '127.0.0.1', path = '/', many] = process.argv.slice(2);
const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
for (let i = 0; i < Number(many); i += 1) void attack();
setTimeout(() => process.stdout.write('under way\n'), 1_000);

async function attack(): Promise<never> {
  for (;;) {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined).write(request.repeat(4));
    await wait(5);
    socket.destroy();
    await wait(20);
  }
}
