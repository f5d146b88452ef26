import { isIPv6 } from 'node:net';

/** A share of something scarce. */
export interface Holding {
  /** See `networkOf`. */
  readonly network: string;
  /** The size of the share. */
  readonly share: number;
}

/**
 * Returns the network that holds the most. It is the one to make room for a newcomer, so a flood ends its own connections and others get in.
 * Behind a proxy, all clients are one network.
 */
export function largestNetwork(holdings: Iterable<Holding>): string | undefined {
  const shares = new Map<string, number>();
  for (const { network, share } of holdings) shares.set(network, (shares.get(network) ?? 0) + share);
  let largest: string | undefined;
  for (const [network, share] of shares)
    if (largest === undefined || share > (shares.get(largest) ?? 0)) largest = network;
  return largest;
}

/** Returns the address itself; for IPv6 its first 64 bits, because the owner of one such address has the whole block. */
export function networkOf(address = ''): string {
  if (!isIPv6(address) || address.startsWith('::')) return address;
  const [before = [], after = []] = (address.split('%')[0] ?? '')
    .split('::')
    .map((groups) => groups.split(':'));
  // `::` stands for as many groups of zeros as are missing.
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}
