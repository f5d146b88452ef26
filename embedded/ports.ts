import type { Home } from './home.ts';
import { replacePrivateFile } from './private-file.ts';
import { readFileIfThere } from './read-file-if-there.ts';

/** Returns the ports that the home's servers had last time, or the default ones on the first start. */
export async function preferredPorts(home: Home): Promise<Ports> {
  const text = await readFileIfThere(home.portsFile);
  return { ...usualPorts, ...(text === undefined ? {} : (JSON.parse(text) as Partial<Ports>)) };
}

/**
 * Remembers the ports, so that a home that once had to use other ports keeps its addresses: the sandbox's address
 * is part of the identity of its connections, and people bookmark the Web UI.
 */
export async function rememberPorts(home: Home, ports: Partial<Ports>): Promise<void> {
  const known = await preferredPorts(home);
  await replacePrivateFile(home.portsFile, `${JSON.stringify({ ...known, ...ports }, null, 2)}\n`);
}

export interface Ports {
  readonly postgres: number;
  readonly temporal: number;
  readonly temporalUi: number;
  readonly sandbox: number;
  readonly sandboxAdmin: number;
}

const usualPorts: Ports = {
  postgres: 54329,
  temporal: 7233,
  temporalUi: 8233,
  sandbox: 8391,
  sandboxAdmin: 8392,
};
