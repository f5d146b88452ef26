import type { FastifyInstance } from 'fastify';
import { MartsMissing } from '../../warehouse/marts/read-one-build.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { inTurns } from '../in-turns.ts';
import { paths } from '../frame/paths.ts';
import { sendHtml } from '../frame/send-html.ts';
import { readDashboard } from './read-dashboard.ts';
import { DashboardPage } from './views/dashboard-page.tsx';
import { MissingPage } from './views/missing-page.tsx';

/** The dashboard, behind the guards of the server it is added to. */
export function registerDashboard(
  server: FastifyInstance,
  { warehouse }: { readonly warehouse: Warehouse },
): void {
  const read = inTurns((asked: string | null) => readDashboard(warehouse, asked));
  server.get(paths.dashboard(), async (request, reply) => {
    const { searchParams: query } = new URL(request.url, 'http://console');
    try {
      const dashboard = await read(query.get('connection'));
      return await sendHtml(reply, <DashboardPage dashboard={dashboard} query={query} path={request.url} />);
    } catch (error) {
      if (!(error instanceof MartsMissing)) throw error;
      return sendHtml(reply, <MissingPage why={error.message} path={request.url} />);
    }
  });
}
