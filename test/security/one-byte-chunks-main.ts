import { connect } from 'node:net';

/**
 * A separate process that opens connections, and sends on each a head and then pieces of one byte for as long as they are accepted. It
 * replaces closed connections. Takes port, head and connections; prints "under way" when all have been open once.
 */
const [port, head = '', connections] = process.argv.slice(2);
const pieces = Buffer.from('1\r\na\r\n'.repeat(43_690));
let opened = 0;
for (let number = 0; number < Number(connections); number += 1) attack();

function attack(): void {
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  socket.resume();
  // More than is buffered, so each write waits for the drain of the one before.
  const send = (): boolean => socket.write(pieces);
  socket.once('connect', () => {
    opened += 1;
    if (opened === Number(connections)) process.stdout.write('under way\n');
    socket.write(head);
    send();
    socket.on('drain', send);
  });
  socket.once('close', () => setTimeout(attack, 50));
}
