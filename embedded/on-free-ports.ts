import { freePort, isFreePort } from './free-port.ts';

/**
 * Starts a server on its preferred ports, or on free ones instead of those that are taken. A port is only known to be ours
 * once the server holds it, so when the start fails and somebody else has a port by now, it is tried again on others.
 */
export async function onFreePorts<Name extends string, Server>(
  preferred: Readonly<Record<Name, number>>,
  start: (ports: Record<Name, number>) => Promise<Server>,
): Promise<{ readonly ports: Record<Name, number>; readonly server: Server }> {
  for (let attempt = 1; ; attempt++) {
    const ports = await choosePorts(preferred);
    try {
      return { ports, server: await start(ports) };
    } catch (error) {
      if (attempt === attempts || !(await lostPort(error, Object.values<number>(ports)))) throw error;
    }
  }
}

/**
 * Starts a server again where it was. It never moves: whoever knows its address goes on using it, and a stranger who has that port by
 * then could pass on what they say to the server in its new place, their logins too, and take over their sessions.
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

/** Another program has the port of a server that is to come back. */
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

/** Somebody else has a port now, or had it when the server wanted it: then its log, which the error ends with, says so. */
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
): Promise<Record<Name, number>> {
  const chosen = await Promise.all(
    Object.entries<number>(preferred).map(async ([name, port]) => [name, await freePort(port)] as const),
  );
  return Object.fromEntries(chosen) as Record<Name, number>;
}
