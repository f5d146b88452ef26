import { text } from 'node:stream/consumers';
import { deletedBut } from './deleted-but.ts';
import { pass, startS3Proxy, type S3Proxy } from './s3-proxy.ts';

/**
 * A proxy of an S3 server that answers removals as S3 answers for objects that may not be removed: for all objects, or for those whose key
 * contains one of these parts.
 */
export function startRefusingProxy(
  target: string,
  code: string,
  parts: readonly string[] = [''],
): Promise<S3Proxy> {
  return startS3Proxy(target, (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', target);
    const { method = 'GET', headers } = incoming;
    if (method === 'POST' && url.searchParams.has('delete')) {
      void text(incoming).then((asked) => {
        const keys = [...asked.matchAll(/<Key>([^<]*)</g)].map(([, key = '']) => key);
        const kept = keys.filter((key) => parts.some((part) => key.includes(part)));
        if (kept.length > 0) outgoing.end(deletedBut(kept, code));
        else pass(url, { method, headers }, outgoing).end(asked);
      });
      return;
    }
    incoming.pipe(pass(url, { method, headers }, outgoing));
  });
}
