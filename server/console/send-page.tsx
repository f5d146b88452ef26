import type { FastifyReply } from 'fastify';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Notice } from './notice.ts';
import type { Page } from './page.ts';
import { Layout } from './views/layout.tsx';

const refreshSeconds = { changing: 2, quiet: 10 } as const;

export function sendPage(
  reply: FastifyReply,
  { page, notice, url }: { page: Page; notice: Notice | undefined; url: string },
): FastifyReply {
  const { title, content, changing = false } = page;
  // What was just asked for begins within a moment.
  const everySeconds = changing || notice !== undefined ? refreshSeconds.changing : refreshSeconds.quiet;
  return sendHtml(
    reply,
    <Layout title={title} notice={notice} path={url} refreshSeconds={everySeconds}>
      {content}
    </Layout>,
  );
}

/** Everything that is not markup of ours is escaped by the renderer. */
export function sendHtml(reply: FastifyReply, document: VNode): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(`<!doctype html>${renderToString(document)}`);
}
