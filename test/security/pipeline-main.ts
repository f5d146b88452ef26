import { connect } from 'node:net';

/**
 * A separate process that opens connections, sends the same bytes so many times on each at once, and reads no answer. It replaces closed
 * connections. Takes port, bytes, connections, times, and a prefix; prints "under way" when all have been sent once.
 */
const [port, text = '', connections, times, head = ''] = process.argv.slice(2);
const bytes = head + text.repeat(Number(times));
let sent = 0;
for (let number = 0; number < Number(connections); number += 1) attack();

function attack(): void {
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  socket.pause();
  socket.write(bytes, () => {
    sent += 1;
    if (sent === Number(connections)) process.stdout.write('under way\n');
  });
  socket.once('close', () => setTimeout(attack, 100));
}
