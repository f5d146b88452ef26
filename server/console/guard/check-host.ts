import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Without a password the console answers to loopback names only. A web page elsewhere can make its own name point here (DNS
 * rebinding), and would then be of the same origin as the console.
 */
export async function checkHost(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (isLoopbackName(request.headers.host ?? '')) return;
  await reply
    .code(403)
    .type('text/plain; charset=utf-8')
    .send(
      'Without DAYBOOK_CONSOLE_PASSWORD the console answers at localhost or 127.0.0.1 only: open it there, or set a password.\n',
    );
}

function isLoopbackName(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
}
