import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { VNode } from 'preact';
import { MartsMissing } from '../../warehouse/marts/in-one-build.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { inTurns } from '../in-turns.ts';
import { limitWork } from '../limit-work.ts';
import { paths } from '../frame/paths.ts';
import { sendHtml } from '../frame/send-html.ts';
import { keepDashboards } from './kept-dashboards.ts';
import { DashboardPage } from './views/dashboard-page.tsx';
import { MissingPage } from './views/missing-page.tsx';

/** Adds the dashboard to a server, behind that server's guards. */
export function registerDashboard(
  server: FastifyInstance,
  { warehouse }: { readonly warehouse: Warehouse },
): void {
  const read = inTurns(keepDashboards(warehouse));
  const inTurn = limitWork(mostAtOnce);
  server.get(paths.dashboard(), async (request, reply) => {
    const isAnswered = await inTurn(reply, async () => {
      const document = await show(request.url);
      if (request.raw.socket.destroyed) return false;
      sendHtml(reply, document);
      await fetched(reply.raw);
      return true;
    });
    return isAnswered === true ? reply : reply.hijack();
  });

  async function show(path: string): Promise<VNode> {
    const { searchParams: query } = new URL(path, 'http://console');
    try {
      const dashboard = await read(query.get('connection'));
      return <DashboardPage dashboard={dashboard} query={query} path={path} />;
    } catch (error) {
      if (!(error instanceof MartsMissing)) throw error;
      return <MissingPage why={error.message} path={path} />;
    }
  }
}

/** A dashboard may take seconds to render; pages of the console do not wait for it. */
const mostAtOnce = 2;

/** Waits until the client has fetched the answer of a megabyte or two, so unfetched ones cannot pile up; a slow client delays others 5 s at most. */
async function fetched(response: ServerResponse): Promise<void> {
  const closed = new Promise((resolve) => response.once('close', resolve));
  await Promise.race([closed, wait(5_000, undefined, { ref: false })]);
}
