import { pass, startS3Proxy, type S3Proxy } from './s3-proxy.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A proxy of an S3 server that answers some requests itself and passes the others on. */
export function startAnsweringProxy(
  target: string,
  answerTo: (method: string, url: URL) => Answer | undefined,
): Promise<S3Proxy> {
  return startS3Proxy(target, (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', target);
    const { method = 'GET', headers } = incoming;
    const answer = answerTo(method, url);
    if (answer === undefined) {
      incoming.pipe(pass(url, { method, headers }, outgoing));
      return;
    }
    incoming
      .resume()
      .on('end', () => outgoing.writeHead(answer.status, { ...answer.headers }).end(answer.body));
  });
}
