import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../embedded/free-port.ts';

/**
 * Lets a new home begin on free ports instead of the usual ones: of those, a server of another test file would take one while
 * ours is dead.
 */
export async function giveOwnPorts(home: string): Promise<void> {
  const names = ['postgres', 'temporal', 'temporalUi', 'sandbox', 'sandboxAdmin'];
  const ports = await Promise.all(names.map(async (name) => [name, await freePort()] as const));
  await writeFile(join(home, 'ports.json'), JSON.stringify(Object.fromEntries(ports)));
}
