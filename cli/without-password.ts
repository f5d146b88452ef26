/**
 * Returns a database URL that is safe to show. Every part that is not known to be harmless is removed, so it does not matter where a
 * password is written: before the host or as a parameter, encoded or not.
 */
export function withoutPassword(url: string): string {
  // A text that is not a URL may hold a password anywhere.
  if (!URL.canParse(url) || !/^\/[^/:@]*$/.test(new URL(url).pathname)) return 'postgres://…';
  const shown = new URL(url);
  shown.password = '';
  shown.hash = '';
  for (const name of [...shown.searchParams.keys()]) if (!harmless.has(name)) shown.searchParams.delete(name);
  return shown.href;
}

const harmless = new Set(['host', 'port', 'user', 'sslmode']);
