import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Refuses every request whose `Host` is not a loopback name. A web page elsewhere can make its own host name resolve to this machine
 * (DNS rebinding), and would then share an origin with what it reads.
 */
export function refuseForeignHosts(sentence: string) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (isLoopbackName(request.headers.host ?? '')) return;
    await reply.code(403).type('text/plain; charset=utf-8').send(`${sentence}\n`);
  };
}

function isLoopbackName(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
}
