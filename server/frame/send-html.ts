import type { FastifyReply } from 'fastify';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** Everything that is not markup of ours is escaped by the renderer. */
export function sendHtml(reply: FastifyReply, document: VNode): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(`<!doctype html>${renderToString(document)}`);
}
