import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import type { Certificates } from './certificates.ts';

/** Puts TLS in front of a server that speaks gRPC in the clear, as a proxy in production does. Returns host:port. */
export async function startTlsProxy(
  address: string,
  {
    ca,
    certificate,
    key,
    clientsNeedCertificate = false,
  }: Certificates & { clientsNeedCertificate?: boolean },
): Promise<string> {
  const [host = '', port = ''] = address.split(':');
  const server = createServer(
    {
      cert: await readFile(certificate),
      key: await readFile(key),
      ca: await readFile(ca),
      ...{
        ALPNProtocols: ['h2'],
        requestCert: clientsNeedCertificate,
        rejectUnauthorized: clientsNeedCertificate,
      },
    },
    (outside) => {
      const inside = connect(Number(port), host);
      outside.pipe(inside).pipe(outside);
      // A side that breaks takes the other with it; the client reports the error.
      outside.on('error', () => inside.destroy());
      inside.on('error', () => outside.destroy());
    },
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
