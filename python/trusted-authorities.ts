import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';

/** The authorities that Node trusts, as PEM: those of Python or the system may be fewer, more, or none. */
export async function trustedAuthorities(): Promise<string> {
  const { NODE_EXTRA_CA_CERTS: extra = '' } = process.env;
  return [...rootCertificates, ...(extra === '' ? [] : [await readFile(extra, 'utf8')])].join('\n');
}
