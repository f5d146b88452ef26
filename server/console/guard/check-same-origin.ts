import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Only a page of ours may ask for a change: a form on another site, in the browser of somebody who may use the console, is
 * refused. Browsers say where a request comes from in `Sec-Fetch-Site` (over https and on loopback) or `Origin`; what says
 * neither is no browser of today, and may use the command line.
 *
 * What is only read, a script of another site has no use for: it can see no answer, but have thousands made. Following a link is another
 * matter.
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
