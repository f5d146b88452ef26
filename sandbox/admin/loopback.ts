/** Whether a `Host` header, or the host of a URL, is a loopback name; the port is ignored. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
}
