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

const attempts = 3;

/** Somebody else has a port now, or had it when the server wanted it: then its log, which the error ends with, says so. */
async function lostPort(error: unknown, ports: readonly number[]): Promise<boolean> {
  if (error instanceof Error && /address already in use/i.test(error.message)) return true;
  return !(await Promise.all(ports.map(isFreePort))).every(Boolean);
}

async function choosePorts<Name extends string>(
  preferred: Readonly<Record<Name, number>>,
): Promise<Record<Name, number>> {
  const chosen = await Promise.all(
    Object.entries<number>(preferred).map(async ([name, port]) => [name, await freePort(port)] as const),
  );
  return Object.fromEntries(chosen) as Record<Name, number>;
}
