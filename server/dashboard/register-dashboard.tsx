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

/** The dashboard, behind the guards of the server it is added to. */
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

/** One may take seconds: pages of the console do not wait for it. */
const mostAtOnce = 2;

/** Waits for the client to fetch the answer, of a megabyte or two: those that nobody fetches must not pile up, nor may a slow one keep others waiting for long. */
async function fetched(response: ServerResponse): Promise<void> {
  const closed = new Promise((resolve) => response.once('close', resolve));
  await Promise.race([closed, wait(5_000, undefined, { ref: false })]);
}
