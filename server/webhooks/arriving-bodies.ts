import type { IncomingMessage } from 'node:http';
import { largestNetwork, networkOf } from '../largest-network.ts';
import { ArrivingBody } from './arriving-body.ts';
import { BodyRefused } from './body-refused.ts';

export interface BodyLimits {
  /** The most bytes of one body. */
  readonly bytes: number;
  /** The most bodies that may be arriving at a time, and the most memory that all of them may hold together. */
  readonly bodies: number;
  readonly bytesTogether: number;
  /** A body that arrives more slowly than this is refused, after the grace period. */
  readonly leastBytesPerSecond: number;
  readonly graceSeconds: number;
  /** Anything beyond this is not read: it waits in the network, at no cost to this process. */
  readonly mostBytesPerSecond: number;
}

export interface ArrivingBodies {
  /** Resolves with the whole body; rejects with BodyRefused. `declared` is its `Content-Length`, if present. */
  read(payload: IncomingMessage, declared: number | undefined): Promise<Buffer>;
  close(): void;
}

/**
 * Reads bodies that are not yet known to be from the service. Beyond the limits, the network that holds the most gives up its longest-running
 * body: a webhook of the service arrives within milliseconds, so a body that lingers is being held back on purpose.
 */
export function readArrivingBodies(limits: BodyLimits): ArrivingBodies {
  const bytesPerTick = limits.mostBytesPerSecond * tickSeconds;
  /** Oldest first. */
  const arriving = new Set<ArrivingBody>();
  let held = 0;
  let bytesLeft = bytesPerTick;
  let watch: NodeJS.Timeout | undefined;
  return {
    async read(payload, declared = 0) {
      if (declared > limits.bytes) throw new BodyRefused('too large');
      const body = new ArrivingBody(payload, {
        network: networkOf(payload.socket.remoteAddress),
        most: limits.bytes,
        onReceived,
      });
      arriving.add(body);
      makeRoom();
      watch ??= setInterval(tick, tickSeconds * 1_000).unref();
      try {
        return await body.whole;
      } finally {
        forget(body);
      }
    },
    close: () => {
      clearInterval(watch);
    },
  };

  function onReceived(body: ArrivingBody, received: { bytes: number; held: number }): void {
    bytesLeft -= received.bytes;
    held += received.held;
    if (bytesLeft < 0 && body.received > bytesAtOnce) body.pause();
    makeRoom();
  }

  function makeRoom(): void {
    while (arriving.size > limits.bodies || held > limits.bytesTogether) {
      const holdings = [...arriving].map((body) => ({ network: body.network, share: shareOfLimits(body) }));
      const network = largestNetwork(holdings);
      const longest = [...arriving].find((body) => body.network === network);
      if (longest === undefined) return;
      forget(longest);
      longest.refuse('turned away');
    }
  }

  function forget(body: ArrivingBody): void {
    if (arriving.delete(body)) held -= body.held;
  }

  function shareOfLimits(body: ArrivingBody): number {
    return 1 / limits.bodies + body.held / limits.bytesTogether;
  }

  /** Counts ticks, not time: while the process is blocked, clients have no chance to send. */
  function tick(): void {
    bytesLeft = bytesPerTick;
    for (const body of arriving) {
      body.ticks += 1;
      const seconds = body.ticks * tickSeconds - limits.graceSeconds;
      if (body.received < seconds * limits.leastBytesPerSecond) body.refuse('too slow');
      else body.resume();
    }
    if (arriving.size > 0) return;
    clearInterval(watch);
    watch = undefined;
  }
}

const tickSeconds = 0.25;
/** Nearly every webhook is smaller than this, and is then read regardless of other traffic. */
const bytesAtOnce = 64 * 1024;
