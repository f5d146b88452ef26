import { isIPv4 } from 'node:net';

/** Whether data sent to a host never leaves this machine. An IPv6 address may have brackets, as in a URL. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
}
