/** The address of Postgres itself, for readers that set the schema or the role for their session, which a pooler refuses. */
export function bypassPooler(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.host = process.env.TEST_POSTGRES_HOST ?? url.host;
  return url.href;
}
