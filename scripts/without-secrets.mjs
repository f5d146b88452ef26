/**
 * Returns an environment for third-party programs, with PATH, proxies and caches, but without Daybook's settings and credentials.
 *
 * @param {Readonly<Record<string, string | undefined>>} environment
 * @returns {Record<string, string | undefined>}
 */
export function withoutSecrets(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !secret.test(name)));
}

// Credentials of package registries stay, because npm, pip and Go need them.
const secret = /^(DAYBOOK_|TEMPORAL_|DATABASE_URL$|PG[A-Z]|AWS_|DBT_)/;
