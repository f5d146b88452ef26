import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { startTemporal, type TemporalOptions, type TemporalServer } from '../../embedded/temporal.ts';
import { listeningPorts } from './listening-ports.ts';
import { temporaryFolder } from './temporary-folder.ts';

test('the namespace keeps closed workflows for 30 days and has the search attributes, even after a second start', async () => {
  const folder = await temporaryFolder();
  for (const start of ['first', 'second']) {
    const server = await temporalIn(folder);
    const connection = await Connection.connect({ address: server.address });
    const { config } = await connection.workflowService.describeNamespace({ namespace: 'default' });
    expect(config?.workflowExecutionRetentionTtl?.seconds?.toNumber(), start).toBe(30 * 86_400);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({
      namespace: 'default',
    });
    expect(Object.keys(customAttributes), start).toEqual(
      expect.arrayContaining(['DaybookConnection', 'DaybookKind', 'DaybookPhase', 'DaybookFailure']),
    );
    await connection.close();
    await server.stop();
  }
});

test('another namespace is created on request, and the Web UI answers', async () => {
  const server = await temporalIn(await temporaryFolder(), { namespace: 'finance' });
  const connection = await Connection.connect({ address: server.address });
  const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: 'finance' });
  await connection.close();
  expect(namespaceInfo?.name).toBe('finance');
  expect((await fetch(server.ui)).status).toBe(200);
});

test('a server whose port another home took first fails to start, even though the other server answers there', async () => {
  const first = await temporalIn(await temporaryFolder());
  // Both found the port free.
  const second = temporalIn(await temporaryFolder(), { port: Number(first.address.split(':')[1]) });
  // These words make the product try other ports.
  await expect(second).rejects.toThrow(/Temporal did not start: it ended with .*address already in use/s);
});

test.runIf(process.platform === 'linux')(
  "the Temporal server's HTTP API starts no workflow for a web page",
  async () => {
    const { address } = await temporalIn(await temporaryFolder());
    const ports = await listeningPorts(`--ip 127.0.0.1 --port ${address.split(':')[1] ?? ''} `);
    expect(ports.length).toBeGreaterThan(2);
    for (const port of ports) {
      // A request that a form or a script of any page may send without a preflight.
      const sent = fetch(`http://127.0.0.1:${port}/api/v1/namespaces/default/workflows/evil`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain', origin: 'http://evil.example' },
        body: '{"workflowType":{"name":"pruneWarehouse"},"taskQueue":{"name":"daybook"}}',
        signal: AbortSignal.timeout(2_000),
      });
      const status = await sent.then((response) => response.status).catch(() => undefined);
      expect(status, String(port)).not.toBe(200);
    }
    const connection = await Connection.connect({ address });
    const { executions } = await connection.workflowService.listOpenWorkflowExecutions({
      namespace: 'default',
    });
    await connection.close();
    expect(executions).toEqual([]);
  },
);

async function temporalIn(folder: string, options: Partial<TemporalOptions> = {}): Promise<TemporalServer> {
  const server = await startTemporal({
    databaseFile: join(folder, 'temporal.db'),
    port: await freePort(),
    uiPort: await freePort(),
    report: () => undefined,
    ...options,
  });
  onTestFinished(() => server.stop());
  return server;
}
