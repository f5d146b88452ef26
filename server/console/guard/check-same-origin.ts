import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Accepts changes only from our own pages: a form on another site, opened in the browser of a console user, is refused. Browsers
 * name the origin of a request in `Sec-Fetch-Site` (over https and on loopback) or `Origin`; a client that sends neither is no
 * current browser, and may use the command line.
 *
 * Reads by scripts of another site are refused too: such a script cannot see the answer, but could send thousands of requests.
 * Following a link is allowed.
 */
export async function checkSameOrigin(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead ? !isOfForeignScript(request) : isSameOrigin(request)) return;
  await reply
    .code(403)
    .type('text/plain; charset=utf-8')
    .send(
      isRead
        ? 'This was asked for by a script of another site.\n'
        : 'This came from another site, so nothing was done. Use the button on the console itself.\n',
    );
}

function isOfForeignScript({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none';
  return isForeign && headers['sec-fetch-dest'] !== 'document';
}

function isSameOrigin({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin, host } = headers;
  return origin !== undefined && host !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}
