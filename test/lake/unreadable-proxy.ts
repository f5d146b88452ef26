import { pass, startS3Proxy, type S3Proxy } from './s3-proxy.ts';

/** S3's answers for an archived object, and for one that somebody has encrypted with another key. */
export const unreadable = {
  archived: { code: 'InvalidObjectState', status: 403, heads: false },
  encrypted: { code: 'InvalidRequest', status: 400, heads: true },
} as const;

/** A proxy of an S3 server that lists objects whose key contains `part` but does not return or copy them, unless they were written anew. */
export function startUnreadableProxy(
  target: string,
  { code, status, heads }: (typeof unreadable)[keyof typeof unreadable],
  part: string,
): Promise<S3Proxy> {
  const written = new Set<string>();
  return startS3Proxy(target, (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', target);
    const { method = 'GET', headers } = incoming;
    const isRead = method === 'GET' || (method === 'HEAD' && heads);
    const read = isRead ? url.pathname : decodeURIComponent(String(headers['x-amz-copy-source'] ?? ''));
    if (method === 'PUT') written.add(url.pathname);
    if (!read.includes(part) || written.has(read))
      return void incoming.pipe(pass(url, { method, headers }, outgoing));
    incoming.resume();
    outgoing.writeHead(status, { 'content-type': 'application/xml' });
    outgoing.end(method === 'HEAD' ? '' : `<Error><Code>${code}</Code><Message>no</Message></Error>`);
  });
}
