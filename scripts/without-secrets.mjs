/**
 * An environment for a program of others that needs PATH, proxies and caches, and none of Daybook's settings and credentials.
 *
 * @param {Readonly<Record<string, string | undefined>>} environment
 * @returns {Record<string, string | undefined>}
 */
export function withoutSecrets(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !secret.test(name)));
}

// Credentials of package registries stay: npm, pip and Go ask for them.
const secret = /^(DAYBOOK_|TEMPORAL_|DATABASE_URL$|PG[A-Z]|AWS_|DBT_)/;
