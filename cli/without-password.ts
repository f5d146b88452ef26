/**
 * A database URL that may be shown. Every part is left out that is not known to be harmless, so it does not matter how many ways
 * there are to write a password: in front of the host, or as a parameter, encoded or not.
 */
export function withoutPassword(url: string): string {
  // What is no address may hold anything anywhere.
  if (!URL.canParse(url) || !/^\/[^/:@]*$/.test(new URL(url).pathname)) return 'postgres://…';
  const shown = new URL(url);
  shown.password = '';
  shown.hash = '';
  for (const name of [...shown.searchParams.keys()]) if (!harmless.has(name)) shown.searchParams.delete(name);
  return shown.href;
}

const harmless = new Set(['host', 'port', 'user', 'sslmode']);
