import { setTimeout as wait } from 'node:timers/promises';
import type { ServerProcess } from './server-process.ts';

/**
 * Calls `probe` until it returns a value. It returns undefined for "not yet", and throws if waiting is pointless.
 * On any failure the process is stopped, and the error includes the last lines of its log.
 */
export async function waitUntilReady<T>(
  server: ServerProcess,
  input: { readonly probe: () => Promise<T | undefined>; readonly timeoutMs: number },
): Promise<T> {
  try {
    return await ask(server, input.probe, Date.now() + input.timeoutMs);
  } catch (error) {
    await server.stop();
    throw new ServerStartError(server, { cause: error, log: await server.log.lastLines() });
  }
}

/** A server did not start. `message` ends with the last lines of its log. */
export class ServerStartError extends Error {
  override readonly name = 'ServerStartError';

  constructor(server: ServerProcess, input: { readonly cause: unknown; readonly log: string }) {
    const why = input.cause instanceof Error ? input.cause.message : String(input.cause);
    const log = input.log === '' ? '' : ` The end of ${server.log.file}:\n${input.log}`;
    super(`${server.name} did not start: ${why}.${log}`, { cause: input.cause });
  }
}

async function ask<T>(
  server: ServerProcess,
  probe: () => Promise<T | undefined>,
  deadline: number,
): Promise<T> {
  let exit: string | undefined;
  void server.exited.then((how) => {
    exit = how;
  });
  while (Date.now() < deadline) {
    const answer = await probe();
    if (answer !== undefined) return answer;
    await wait(50);
    if (exit !== undefined) throw new Error(`it ended with ${exit}`);
  }
  throw new Error('it does not answer');
}
