import { isIPv4 } from 'node:net';

/** Whether data sent to a host never leaves this machine. An IPv6 address may have brackets, as in a URL. */
export function isLoopback(host: string): boolean {
  const name = withoutBrackets(host);
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
}

/** An IPv6 address has brackets in a URL, and none where something listens. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
