import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Only a page of ours may ask for a change: a form on another site, in the browser of somebody who may use the console, is
 * refused. Browsers say where a request comes from in `Sec-Fetch-Site` (over https and on loopback) or `Origin`; what says
 * neither is no browser of today, and may use the command line.
 */
export async function checkSameOrigin(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.method === 'GET' || request.method === 'HEAD' || isSameOrigin(request)) return;
  await reply
    .code(403)
    .type('text/plain; charset=utf-8')
    .send('This came from another site, so nothing was done. Use the button on the console itself.\n');
}

function isSameOrigin({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin, host } = headers;
  return origin !== undefined && host !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}
