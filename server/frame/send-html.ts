import type { FastifyReply } from 'fastify';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { visible } from './visible.ts';

/** Everything that is not markup of ours is escaped by the renderer; characters that would turn the direction of writing are written out. */
export function sendHtml(reply: FastifyReply, document: VNode): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(`<!doctype html>${visible(renderToString(document))}`);
}
