import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';

export interface Route {
  readonly method: string;
  readonly path: string;
}

/** All routes of the servers created while `start` runs, including routes added in the future. */
export async function collectRoutes(start: () => Promise<unknown>): Promise<Route[]> {
  const routes: Route[] = [];
  const note = (message: unknown): void => {
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url }: RouteOptions) => {
      for (const one of [method].flat()) routes.push({ method: one, path: url });
    });
  };
  subscribe('fastify.initialization', note);
  try {
    await start();
  } finally {
    unsubscribe('fastify.initialization', note);
  }
  return routes;
}
