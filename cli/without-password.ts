/** A database URL that may be shown. */
export function withoutPassword(url: string): string {
  const safe = new URL(url);
  safe.password = '';
  return safe.toString();
}
