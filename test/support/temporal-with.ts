import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterAll } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { startServerProcess } from '../../embedded/server-process.ts';
import { ensureTemporalCli } from '../../scripts/temporal-cli.mjs';
import { eventually } from './eventually.ts';

/** Starts a Temporal server for the test file with these dynamic settings, in memory. Returns host:port. */
export async function startTemporalWith(...settings: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-temporal-'));
  const port = await freePort();
  const server = await startServerProcess({
    name: 'Temporal',
    command: await ensureTemporalCli({ report: () => undefined }),
    args: [
      ...[
        'server',
        'start-dev',
        '--headless',
        '--ip',
        '127.0.0.1',
        '--port',
        String(port),
        '--log-level',
        'warn',
      ],
      ...settings.flatMap((setting) => ['--dynamic-config-value', setting]),
    ],
    logFile: join(folder, 'temporal.log'),
    stopSteps: [{ signal: 'SIGTERM', timeoutMs: 10_000 }],
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const address = `127.0.0.1:${port}`;
  await eventually(async () => {
    const connection = await Connection.connect({ address, connectTimeout: '1s' });
    await connection.close();
    return 'answers';
  });
  return address;
}
