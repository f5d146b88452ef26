import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporalFromEnv } from '../../config/temporal-settings.ts';

describe("Temporal's own variables", () => {
  test('name address and namespace', () => {
    expect(temporalFromEnv({ TEMPORAL_ADDRESS: 'temporal:7233', TEMPORAL_NAMESPACE: 'books' })).toMatchObject(
      {
        settings: { namespace: 'books', connection: { address: 'temporal:7233' } },
        problems: [],
      },
    );
  });

  test('leave the namespace at "default"', () => {
    const { settings } = temporalFromEnv({ TEMPORAL_ADDRESS: 'temporal:7233' });
    expect(settings?.namespace).toBe('default');
    expect(settings?.connection.tls).toBeUndefined();
  });

  test('with an API key enable TLS', () => {
    const { settings } = temporalFromEnv({ TEMPORAL_ADDRESS: 'cloud:7233', TEMPORAL_API_KEY: 'key' });
    expect(settings?.connection).toMatchObject({ apiKey: 'key', tls: true });
  });

  test('with TEMPORAL_TLS=false disable TLS', () => {
    const { settings } = temporalFromEnv({ TEMPORAL_ADDRESS: 'lan:7233', TEMPORAL_TLS: 'false' });
    expect(settings?.connection.tls).toBe(false);
  });

  test('set the deployment version if both of its names are given, and reject one alone', () => {
    const set = { TEMPORAL_ADDRESS: 'temporal:7233', TEMPORAL_DEPLOYMENT_NAME: 'daybook' };
    const { settings } = temporalFromEnv({ ...set, TEMPORAL_WORKER_BUILD_ID: '0.5.0' });
    expect(settings?.deployment).toEqual({ deploymentName: 'daybook', buildId: '0.5.0' });
    expect(temporalFromEnv(set).problems).toEqual([
      'TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID are required together.',
    ]);
    expect(temporalFromEnv({ TEMPORAL_ADDRESS: 'temporal:7233' }).settings).not.toHaveProperty('deployment');
  });

  test('accept certificates by path or by content', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'daybook-config-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    const certificate = path.join(folder, 'client.pem');
    writeFileSync(certificate, 'certificate');
    const { settings } = temporalFromEnv({
      TEMPORAL_ADDRESS: 'cloud:7233',
      TEMPORAL_TLS_CLIENT_CERT_PATH: certificate,
      TEMPORAL_TLS_CLIENT_KEY_DATA: 'key',
      TEMPORAL_TLS_SERVER_NAME: 'books.tmprl.cloud',
    });
    const tls = settings?.connection.tls;
    expect(tls).toMatchObject({ serverNameOverride: 'books.tmprl.cloud' });
    const pair = typeof tls === 'object' && tls !== null ? tls.clientCertPair : undefined;
    expect(Buffer.from(pair?.crt ?? []).toString()).toBe('certificate');
    expect(Buffer.from(pair?.key ?? []).toString()).toBe('key');
  });

  test('are rejected without an address if they need one', () => {
    expect(temporalFromEnv({ TEMPORAL_API_KEY: 'key', TEMPORAL_TLS: 'true' }).problems).toEqual([
      'TEMPORAL_ADDRESS is required with TEMPORAL_API_KEY, TEMPORAL_TLS.',
    ]);
  });

  test('that contradict each other or name a missing file are rejected', () => {
    const both = temporalFromEnv({
      TEMPORAL_ADDRESS: 'cloud:7233',
      TEMPORAL_TLS_CLIENT_CERT_PATH: '/certificate',
      TEMPORAL_TLS_CLIENT_CERT_DATA: 'certificate',
    });
    expect(both.problems).toEqual([expect.stringContaining('Cannot specify both')]);
    const missing = temporalFromEnv({
      TEMPORAL_ADDRESS: 'cloud:7233',
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere/ca.pem',
    });
    expect(missing.problems).toEqual([expect.stringContaining('/nowhere/ca.pem')]);
  });
});
