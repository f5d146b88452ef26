import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certificates {
  /** The authority that signed the certificate. */
  readonly ca: string;
  /** The certificate of a server at 127.0.0.1, which is localhost. */
  readonly certificate: string;
  readonly key: string;
}

/** Makes an authority, and a certificate signed by it for a server at 127.0.0.1, as PEM files in a folder. */
export async function makeCertificates(folder: string, name: string): Promise<Certificates> {
  const file = (what: string): string => join(folder, `${name}-${what}`);
  const files = { ca: file('ca.crt'), certificate: file('server.crt'), key: file('server.key') };
  const caKey = file('ca.key');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    caKey,
    '-out',
    files.ca,
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
  );
  const request = file('server.csr');
  await openssl('req', ...newKey, '-keyout', files.key, '-out', request, '-subj', '/CN=127.0.0.1');
  const extensions = file('extensions');
  await writeFile(extensions, 'subjectAltName = IP:127.0.0.1,DNS:localhost\n');
  const signedBy = ['-CA', files.ca, '-CAkey', caKey, '-CAcreateserial', '-extfile', extensions];
  await openssl('x509', '-req', '-in', request, ...signedBy, '-out', files.certificate, '-days', '2');
  return files;
}

async function openssl(...args: string[]): Promise<void> {
  await promisify(execFile)('openssl', args);
}
