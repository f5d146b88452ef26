import { connect } from 'node:net';

/**
 * A process of its own that opens connections, sends so many requests for one path on each at once, and reads no answer; where one
 * is closed, it opens another. Takes port, path, connections and requests; prints "under way" when all have been sent once.
 */
const [port, path = '/', connections, requests] = process.argv.slice(2);
const bytes = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(Number(requests));
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
