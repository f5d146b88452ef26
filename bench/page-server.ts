import { createServer } from 'node:http';
import { billsPerPage, createBillPages } from './bill-pages.ts';
import { parseBillsToken } from './bills-token.ts';

/**
 * A process that serves only bills, so that the service is not part of what is measured; its list of events is empty. The access token
 * defines the bills. Prints its URL when it is ready, and ends with its parent.
 */
const pages = createBillPages('bench');

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://bench');
  const { name, ...changes } = parseBillsToken(searchParams.get('access_token') ?? '');
  const head = `{"connection":{"id":"${name}","orgId":"bench","platform":"BENCH"},`;
  const page = Number(searchParams.get('cursor') ?? '0');
  const sinceOnly = searchParams.has('last_synced_at_min');
  const served = pathname.endsWith('/events') ? 0 : sinceOnly ? changes.changed : changes.bills;
  const records =
    served === 0 ? '' : sinceOnly ? pages.buildChangedRecords(page, changes) : pages.buildRecords(page);
  const next = (page + 1) * billsPerPage >= served ? 'null' : `"${page + 1}"`;
  const plural = pathname.endsWith('/events') ? 'events' : 'bills';
  const body = Buffer.concat([
    Buffer.from(`${head}"${plural}":[`),
    Buffer.from(records),
    Buffer.from(`],"next_cursor":${next}}`),
  ]);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null)
    process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});
process.stdin.resume().on('end', () => process.exit());
