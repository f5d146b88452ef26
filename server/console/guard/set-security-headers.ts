import type { FastifyReply, FastifyRequest } from 'fastify';

/** Nothing but our own files may be loaded, run or framed; nothing is kept by the browser. */
export async function setSecurityHeaders(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.headers({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
      "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    // Not "no-referrer": browsers would send forms with the origin "null".
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  return Promise.resolve();
}
