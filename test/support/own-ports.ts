import { freePort } from '../../embedded/free-port.ts';
import type { Home } from '../../embedded/home.ts';
import { rememberPorts, type Ports } from '../../embedded/ports.ts';

/** Lets a new home begin on free ports instead of the default ones, which a server of another test file could take while ours is down. */
export async function giveOwnPorts(home: Home): Promise<void> {
  const names: (keyof Ports)[] = ['postgres', 'temporal', 'temporalUi', 'sandbox', 'sandboxAdmin'];
  const ports = await Promise.all(names.map(async (name) => [name, await freePort()] as const));
  await rememberPorts(home, Object.fromEntries(ports));
}
