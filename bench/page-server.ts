import { createServer } from 'node:http';
import { billsPerPage, createBillPages } from './bill-pages.ts';

/**
 * A process that serves bills and nothing else, so that the service is not what is measured. The access token is the number of
 * bills and a name: `100000-one`. Prints its URL when it is ready, and ends with its parent.
 */
const pages = createBillPages('bench');

const server = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://bench');
  const [count = '0', name = ''] = (searchParams.get('access_token') ?? '').split('-');
  const page = Number(searchParams.get('cursor') ?? '0');
  const last = (page + 1) * billsPerPage >= Number(count);
  const head = `{"connection":{"id":"${name}","orgId":"bench","platform":"BENCH"},"bills":[`;
  const tail = `],"next_cursor":${last ? 'null' : `"${page + 1}"`}}`;
  const body = Buffer.concat([Buffer.from(head), pages.recordsOf(page), Buffer.from(tail)]);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null)
    process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});
process.stdin.resume().on('end', () => process.exit());
