/** Addresses of the console's pages. */
export const paths = {
  overview: (filter: Filter = {}) => withQuery('/', filter),
  dashboard: () => '/dashboard',
  connection: (name: string) => `/connections/${encodeURIComponent(name)}`,
  runs: (filter: Filter = {}) => withQuery('/runs', filter),
  run: (id: string) => `/runs/${encodeURIComponent(id)}`,
  quarantine: (filter: Filter = {}) => withQuery('/quarantine', filter),
  discrepancies: (filter: Filter = {}) => withQuery('/discrepancies', filter),
  snapshots: (filter: Filter = {}) => withQuery('/snapshots', filter),
  webhooks: (filter: Filter = {}) => withQuery('/webhooks', filter),
  alerts: () => '/alerts',
} as const;

export type Filter = Readonly<Record<string, string | number | undefined>>;

function withQuery(path: string, filter: Filter): string {
  const query = new URLSearchParams(
    Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
