import type { FastifyReply, FastifyRequest } from 'fastify';

/** Allows only our own files to be loaded, run or framed, and tells the browser to cache nothing. */
export async function setSecurityHeaders(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.headers({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
      "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    // Not "no-referrer": with it, browsers would send forms with the origin "null".
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  return Promise.resolve();
}
