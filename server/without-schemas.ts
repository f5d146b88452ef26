import type { FastifyServerOptions } from 'fastify';

/** Disables Fastify's schema compilers: no route has a JSON schema, and they are a fifth of what a worker loads at start. */
export const withoutSchemas: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};

function refuse(): never {
  throw new Error(
    'No route may have a JSON schema: server/without-schemas.ts leaves out what compiles them.',
  );
}
