import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { readClock } from '../../warehouse/clock/read-clock.ts';
import { registerDashboard } from '../dashboard/register-dashboard.tsx';
import type { Action } from './action.ts';
import { actions, actionsOfService } from './actions.ts';
import { registerAssets } from '../frame/assets.ts';
import { paths } from '../frame/paths.ts';
import { limitWork } from '../limit-work.ts';
import { refuseForeignHosts } from '../refuse-foreign-hosts.ts';
import type { ConsoleParts } from './console-parts.ts';
import { checkPassword } from './guard/check-password.ts';
import { checkSameOrigin } from './guard/check-same-origin.ts';
import { refuseForwarded } from './guard/refuse-forwarded.ts';
import { setSecurityHeaders } from './guard/set-security-headers.ts';
import { keepNotice, takeNotice } from './notice.ts';
import { pages } from './pages.ts';
import { sendError, sendNotFound } from './send-error.tsx';
import { sendPage } from './send-page.tsx';
import { explainRefusal } from './explain-refusal.ts';

/**
 * The console: pages for people, and forms that do what commands do. It is a separate plugin, so that its guards apply to
 * its own routes only: probes and webhooks have no password.
 */
export function createConsole(parts: ConsoleParts): FastifyPluginAsync {
  return async (server) => {
    server.addHook('onRequest', setSecurityHeaders);
    await guard(server, parts);
    readFormsOnly(server);
    server.setErrorHandler(sendError(parts));
    server.setNotFoundHandler(sendNotFound);
    registerAssets(server);
    registerPages(server, parts);
    registerDashboard(server, parts);
    registerActions(server, parts, { actions, mostAtOnce: 4 });
    registerActions(server, parts, { actions: actionsOfService, mostAtOnce: 1 });
  };
}

async function guard(server: FastifyInstance, { settings, logger }: ConsoleParts): Promise<void> {
  const { consolePassword: password } = settings;
  if (password === undefined) {
    server.addHook(
      'onRequest',
      refuseForeignHosts(
        'Without DAYBOOK_CONSOLE_PASSWORD the console answers at localhost or 127.0.0.1 only: open it there, or set a password.',
      ),
    );
    server.addHook('onRequest', refuseForwarded);
  } else await checkPassword(server, { password, logger });
  server.addHook('onRequest', checkSameOrigin);
}

function readFormsOnly(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser<string>(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: mostFormBytes },
    (_request, text, done) => {
      done(null, new URLSearchParams(text));
    },
  );
}

/** A page of quarantine entries, all checked, plus the reason, takes a tenth of this. */
const mostFormBytes = 64 * 1024;

/** Each page uses several Postgres connections, which webhooks and syncs also need and which are few. */
const mostPagesAtOnce = 2;

function registerPages(server: FastifyInstance, parts: ConsoleParts): void {
  const inTurn = limitWork(mostPagesAtOnce);
  for (const [path, read] of Object.entries(pages)) {
    server.get<Routed>(path, async (request, reply) => {
      const { searchParams: query } = new URL(request.url, 'http://console');
      const found = await inTurn(reply, async () => {
        const now = await readClock(parts.warehouse);
        return { page: await read(parts, { params: request.params, query, now }) };
      });
      if (found === undefined) return reply.hijack();
      const { page } = found;
      if (page === undefined) return sendNotFound(request, reply);
      const notice = await takeNotice(request, reply, parts.settings.secretKey);
      return sendPage(reply, { page, notice, url: request.url });
    });
  }
}

function registerActions(
  server: FastifyInstance,
  parts: ConsoleParts,
  { actions, mostAtOnce }: { actions: Readonly<Record<string, Action>>; mostAtOnce: number },
): void {
  const inTurn = limitWork(mostAtOnce);
  const { secretKey } = parts.settings;
  for (const [path, act] of Object.entries(actions)) {
    server.post<Routed & { Body: URLSearchParams | undefined }>(path, async (request, reply) => {
      const { params, body: form = new URLSearchParams() } = request;
      try {
        const acted = await inTurn(reply, () => act(parts, { params, form }));
        if (acted === undefined) return await reply.hijack();
        const { notice, next } = acted;
        await keepNotice(reply, { kind: 'done', text: notice }, secretKey);
        return await reply.redirect(next, 303);
      } catch (error) {
        await keepNotice(reply, { kind: 'refused', text: explainRefusal(error) }, secretKey);
        return reply.redirect(formPage(path, params), 303);
      }
    });
  }
}

/** Returns the page that holds the form of an action. */
function formPage(path: string, { connection }: Routed['Params']): string {
  return path.startsWith('/connections/') ? paths.connection(connection ?? '') : paths.quarantine();
}

interface Routed {
  Params: Record<string, string>;
}
