/**
 * Returns the part of our environment that embedded servers get: how to find programs and libraries. It is an allowlist, because the rest
 * contains the client secret, keys of buckets, and whatever else a shell exports.
 */
export function serverEnvironment(): Record<string, string> {
  const entries = passedOn.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

const passedOn = ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH', 'NIX_LD', 'NIX_LD_LIBRARY_PATH'];
