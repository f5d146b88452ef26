import type { FastifyReply } from 'fastify';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { visible } from './visible.ts';

/** Sends a page. The renderer escapes everything except our own markup; characters that change the writing direction are shown as escapes. */
export function sendHtml(reply: FastifyReply, document: VNode): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(`<!doctype html>${visible(renderToString(document))}`);
}
