import type { Home } from '../embedded/home.ts';
import { embeddedSecretKey } from '../embedded/secret-key.ts';
import type { SecretKey } from '../warehouse/secrets/secret-key.ts';
import type { Config } from '../config/parse-config.ts';

/** Returns the configured key, or the one in the home, which is created on first use. */
export function secretKeyOf({ secretKey }: Config, home: Home): SecretKey {
  return secretKey === undefined ? () => embeddedSecretKey(home) : () => Promise.resolve(secretKey);
}
