import type { FastifyInstance } from 'fastify';

/** Somebody else has the port that was asked for. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse';

  constructor(address: { host: string; port: number }, cause: unknown) {
    super(
      `Port ${address.port} of ${address.host} is in use: stop what listens there, or set DAYBOOK_HTTP_PORT to another one.`,
      { cause },
    );
  }
}

/**
 * Listens and returns the URL. When nobody asked for this very port, the 99 after it are tried as well.
 * Throws PortInUse.
 */
export async function listen(
  app: Pick<FastifyInstance, 'listen'>,
  address: { readonly host: string; readonly port: number; readonly portIsDefault: boolean },
): Promise<string> {
  const { host, portIsDefault } = address;
  const lastPort = portIsDefault ? address.port + 99 : address.port;
  for (let port = address.port; ; port += 1) {
    try {
      return await app.listen({ host, port });
    } catch (error) {
      if (!isInUse(error)) throw error;
      if (port === lastPort) throw new PortInUse({ host, port: address.port }, error);
    }
  }
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}
