import { EventEmitter, once } from 'node:events';
import { pass, startS3Proxy, type S3Proxy } from './s3-proxy.ts';

export interface HoldingProxy extends S3Proxy {
  /** Resolves when the first request is held. */
  readonly holds: Promise<unknown>;
  /** Passes on the held requests, and holds no more. */
  readonly release: () => unknown;
}

/** A proxy that holds requests that write to such a path, as if the host stood still before sending them, and passes the others on. */
export async function startHoldingProxy(target: string, path: RegExp): Promise<HoldingProxy> {
  const events = new EventEmitter();
  const [holds, released] = [once(events, 'held'), once(events, 'released')];
  const proxy = await startS3Proxy(target, (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', target);
    const { method, headers } = incoming;
    const passOn = (): void => {
      incoming.pipe(pass(url, { method, headers }, outgoing).on('error', () => outgoing.destroy()));
    };
    if (method !== 'PUT' || !path.test(url.pathname)) {
      passOn();
      return;
    }
    events.emit('held');
    void released.then(passOn);
  });
  return { ...proxy, holds, release: () => events.emit('released') };
}
