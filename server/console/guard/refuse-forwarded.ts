import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Refuses requests that a proxy has forwarded. A client of the proxy is not on this machine and may send any `Host`, so a console without
 * a password can detect it only by these headers. Browsers send none of them, and a proxy need not either: nginx sends none by default.
 */
export async function refuseForwarded({ headers }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!Object.keys(headers).some((name) => isOfProxies.test(name))) return;
  await reply.code(403).type('text/plain; charset=utf-8').send(`${sentence}\n`);
}

const isOfProxies = /^(forwarded|via|x-real-ip|x-forwarded(-.*)?)$/;

const sentence =
  'This request came through a proxy (it has a header Forwarded, X-Forwarded-*, Via or X-Real-IP), and the console has no password: ' +
  'set DAYBOOK_CONSOLE_PASSWORD, or let the proxy pass on nothing but POST /webhooks.';
