import { EventEmitter, once } from 'node:events';
import { pass, startS3Proxy, type S3Proxy } from './s3-proxy.ts';

export interface HoldingProxy extends S3Proxy {
  /** When the first request is held. */
  readonly holds: Promise<unknown>;
  /** Passes on what was held, and holds nothing more. */
  readonly release: () => unknown;
}

/** Passes requests on to a server, but holds those that write to such a path, as a host that stands still does before it has sent them. */
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
