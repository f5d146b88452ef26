import { isIPv4 } from 'node:net';

/** Whether a server that listens on this host is reached from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
