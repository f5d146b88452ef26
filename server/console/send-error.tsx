import type { FastifyReply, FastifyRequest } from 'fastify';
import { codeOf } from '../../errors/code-of.ts';
import { UnknownConnection } from '../../warehouse/errors.ts';
import { isDatabaseAway } from '../../warehouse/session/is-database-away.ts';
import { sendHtml } from '../frame/send-html.ts';
import type { ConsoleParts } from './console-parts.ts';
import { Layout } from './views/layout.tsx';

export function sendNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendMessage(request, reply, {
    status: 404,
    title: 'There is nothing here',
    text: 'There is no page of this address, or what it showed is no longer kept.',
  });
}

/** Sends a page that says what to do. The exact error goes to the log only, as a driver's message may quote a record. */
export function sendError({ logger }: Pick<ConsoleParts, 'logger'>) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (error instanceof UnknownConnection) return sendNotFound(request, reply);
    const status = statusOf(error);
    if (status === 401) {
      return sendMessage(request, reply, {
        status,
        title: 'Password needed',
        text: 'Any user name, and the password that DAYBOOK_CONSOLE_PASSWORD was set to.',
      });
    }
    if (status !== undefined && status < 500) {
      return sendMessage(request, reply, {
        status,
        title: 'This cannot be read',
        text: 'Go back and try again.',
      });
    }
    if (isDatabaseAway(error)) {
      return sendMessage(request, reply, {
        status: 503,
        title: 'The database does not answer',
        text: 'Everything resumes by itself once it does. "daybook doctor" says where it is expected.',
      });
    }
    logger.error({ route: request.routeOptions.url, ...traceOf(error) }, 'A page of the console failed.');
    return sendMessage(request, reply, {
      status: 500,
      title: 'This page failed',
      text: 'That is a defect. The log of the process says where it is.',
    });
  };
}

function sendMessage(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, title, text }: { status: number; title: string; text: string },
): FastifyReply {
  return sendHtml(
    reply.code(status),
    <Layout title={title} path={request.url}>
      <h1>{title}</h1>
      <p>{text}</p>
    </Layout>,
  );
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  // A NUL in an address or a form; Postgres cannot store it in a text.
  if (codeOf(error) === '22021') return 400;
  return 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

function traceOf(error: unknown): object {
  if (!(error instanceof Error)) return {};
  return { type: error.name, stack: error.stack?.replace(error.message, '…') };
}
