import pg from 'pg';
import * as z from 'zod';

/** The target of a database URL, as the driver reads it: with its parameters, defaults and `PG…` variables. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Whether sessions are encrypted, and what the server has to prove: nothing, its authority, or its name too. */
  readonly tls: 'none' | 'unproved' | 'authority' | 'full';
}

/** Parses a URL. Throws what the driver throws, for example if the file of a certificate is missing. */
export function databaseAddress(url: string): DatabaseAddress {
  const { host, port, user = '', password, database = '', ssl } = new pg.Client(url);
  return { host, port, user, password: password ?? '', database, tls: readTls(ssl) };
}

/** The driver gives true, or options for TLS. */
function readTls(ssl: unknown): DatabaseAddress['tls'] {
  if (ssl === false) return 'none';
  const { rejectUnauthorized, checkServerIdentity } = sslSchema.parse(ssl === true ? {} : ssl);
  if (rejectUnauthorized === false) return 'unproved';
  return checkServerIdentity === undefined ? 'full' : 'authority';
}

const sslSchema = z.object({
  rejectUnauthorized: z.boolean().optional(),
  checkServerIdentity: z.unknown().optional(),
});
