import type { FastifyReply } from 'fastify';
import { sendHtml } from '../frame/send-html.ts';
import type { Notice } from './notice.ts';
import type { Page } from './page.ts';
import { Layout } from './views/layout.tsx';

const refreshSeconds = { changing: 2, quiet: 10 } as const;

export function sendPage(
  reply: FastifyReply,
  { page, notice, url }: { page: Page; notice: Notice | undefined; url: string },
): FastifyReply {
  const { title, content, changing = false } = page;
  // The requested action starts within moments.
  const everySeconds = changing || notice !== undefined ? refreshSeconds.changing : refreshSeconds.quiet;
  return sendHtml(
    reply,
    <Layout title={title} notice={notice} path={url} refreshSeconds={everySeconds}>
      {content}
    </Layout>,
  );
}
