import { freePort, isFreePort } from './free-port.ts';

/**
 * Starts a server on its preferred ports, or on free ones in place of taken ones. A port is certain only once the server holds it, so if
 * the start fails and another program has a port by then, the start is retried on other ports. `except` is a port that it must leave free.
 */
export async function onFreePorts<Name extends string, Server>(
  preferred: Readonly<Record<Name, number>>,
  start: (ports: Record<Name, number>) => Promise<Server>,
  { except }: { readonly except: number },
): Promise<{ readonly ports: Record<Name, number>; readonly server: Server }> {
  for (let attempt = 1; ; attempt++) {
    const ports = await choosePorts(preferred, except);
    try {
      return { ports, server: await start(ports) };
    } catch (error) {
      if (attempt === attempts || !(await lostPort(error, Object.values<number>(ports)))) throw error;
    }
  }
}

/**
 * Restarts a server on its previous ports. It never moves: clients keep using its address, and a program that took over the port could
 * forward their traffic, including logins, to the server's new port and hijack their sessions.
 */
export async function onSamePorts<Name extends string, Server>(
  name: string,
  ports: Record<Name, number>,
  start: (ports: Record<Name, number>) => Promise<Server>,
): Promise<Server> {
  try {
    return await start(ports);
  } catch (error) {
    const taken = await takenPorts(Object.values<number>(ports));
    throw taken.length === 0 ? error : new PortTaken(name, { ports: taken, cause: error });
  }
}

/** Another program took the port of a server that has to restart. */
class PortTaken extends Error {
  override readonly name = 'PortTaken';

  constructor(server: string, { ports, cause }: { ports: readonly number[]; cause: unknown }) {
    super(
      `another program took port ${ports.join(' and ')} of 127.0.0.1 while ${server} was down: find it ` +
        `("lsof -nP -iTCP:${ports[0] ?? ''} -sTCP:LISTEN", as root) and end it, or start Daybook again, which then takes another port`,
      { cause },
    );
  }
}

const attempts = 3;

/** True if another program has a port now, or had it when the server wanted it; the server's log, which ends the error, then says so. */
async function lostPort(error: unknown, ports: readonly number[]): Promise<boolean> {
  if (error instanceof Error && /address already in use/i.test(error.message)) return true;
  return (await takenPorts(ports)).length > 0;
}

async function takenPorts(ports: readonly number[]): Promise<number[]> {
  const free = await Promise.all(ports.map(isFreePort));
  return ports.filter((_, index) => free[index] === false);
}

async function choosePorts<Name extends string>(
  preferred: Readonly<Record<Name, number>>,
  except: number,
): Promise<Record<Name, number>> {
  const chosen = await Promise.all(
    Object.entries<number>(preferred).map(
      async ([name, port]) => [name, await freePort(port, { except })] as const,
    ),
  );
  return Object.fromEntries(chosen) as Record<Name, number>;
}
