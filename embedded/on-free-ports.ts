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
      const free = await Promise.all(Object.values<number>(ports).map(isFreePort));
      if (attempt === attempts || free.every(Boolean)) throw error;
    }
  }
}

const attempts = 3;

async function choosePorts<Name extends string>(
  preferred: Readonly<Record<Name, number>>,
): Promise<Record<Name, number>> {
  const chosen = await Promise.all(
    Object.entries<number>(preferred).map(async ([name, port]) => [name, await freePort(port)] as const),
  );
  return Object.fromEntries(chosen) as Record<Name, number>;
}
