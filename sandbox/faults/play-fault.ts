import { setTimeout as wait } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { ApiError } from '../api/api-error.ts';
import type { Answer } from '../api/data-request.ts';
import type { RequestFault } from './fault-rule.ts';

/**
 * Plays a fault that replaces or precedes the answer. Other faults change the answer itself and are ignored here.
 *
 * @throws ApiError for faults that are ordinary errors of the service.
 * @returns whether the request has been answered (or never will be).
 */
export async function playFault(fault: RequestFault, reply: FastifyReply): Promise<boolean> {
  switch (fault.kind) {
    case 'status':
      throw new ApiError(fault.status, fault.code, 'A fault that was asked for.', retryAfterHeader(fault));
    case 'html':
      await reply
        .code(fault.status)
        .headers(retryAfterHeader(fault))
        .type('text/html')
        .send(htmlPage(fault.status));
      return true;
    case 'empty':
      await reply.code(fault.status).type('application/json').send('');
      return true;
    case 'reset':
      reply.hijack();
      reply.raw.socket?.resetAndDestroy();
      return true;
    case 'hang':
      reply.hijack();
      return true;
    case 'never-ending':
      reply.hijack();
      dribble(reply.raw);
      return true;
    case 'slow':
      await wait(fault.ms, undefined, { ref: false });
      return false;
    case 'truncated':
    case 'cut':
    case 'not-ready':
    case 'repeat-cursor':
    case 'short-page':
    case 'mutate':
    case 'another-connection':
      return false;
  }
}

/** Sends the correct answer, whole or modified by the fault. */
export function sendAnswer(
  reply: FastifyReply,
  { status, body }: Answer,
  fault: RequestFault | null,
): FastifyReply {
  const half = body.slice(0, body.length / 2);
  if (fault?.kind === 'cut') {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    reply.hijack();
    reply.raw.writeHead(status, headers);
    reply.raw.write(half, () => reply.raw.socket?.destroy());
    return reply;
  }
  // Encoded once: Fastify would process text twice, to count its bytes and to write them.
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(Buffer.from(fault?.kind === 'truncated' ? half : body));
}

function dribble(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"connection":{},');
  const timer = setInterval(() => response.write(' '), 50);
  response.once('close', () => {
    clearInterval(timer);
  });
}

function retryAfterHeader({ retryAfter }: { retryAfter?: string | undefined }): Record<string, string> {
  return retryAfter === undefined ? {} : { 'retry-after': retryAfter };
}

function htmlPage(status: number): string {
  return `<html><head><title>${status}</title></head><body><h1>${status} from the proxy</h1></body></html>`;
}
