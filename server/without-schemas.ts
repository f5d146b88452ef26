import type { FastifyServerOptions } from 'fastify';

/** No route has a JSON schema, and what Fastify would compile them by is a fifth of what a worker's start loads. */
export const withoutSchemas: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};

function refuse(): never {
  throw new Error(
    'No route may have a JSON schema: server/without-schemas.ts leaves out what compiles them.',
  );
}
