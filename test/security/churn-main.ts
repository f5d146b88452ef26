import { connect } from 'node:net';

/**
 * A separate process with its own local address that opens so many connections a second, each with a webhook of which only one byte comes.
 * Takes port, address and connections a second; prints "under way" after the first second.
 */
const [port, localAddress = '127.0.0.1', perSecond] = process.argv.slice(2);
const head = 'POST /webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nx';
const began = performance.now();
let opened = 0;
setInterval(() => {
  const due = ((performance.now() - began) / 1_000) * Number(perSecond);
  // Skips connections that it cannot open in time.
  for (opened = Math.max(opened, due - 500); opened < due; opened += 1) attack();
}, 5);
setTimeout(() => process.stdout.write('under way\n'), 1_000);

function attack(): void {
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined).write(head);
}
