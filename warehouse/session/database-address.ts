import pg from 'pg';
import * as z from 'zod';

/** Where a database URL leads: as the driver reads it, with its parameters, defaults and `PG…` variables. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Whether sessions are encrypted, and what the server has to prove: nothing, its authority, or its name too. */
  readonly tls: 'none' | 'unproved' | 'authority' | 'full';
}

/** Throws what the driver throws, as when a file of a certificate is missing. */
export function databaseAddress(url: string): DatabaseAddress {
  const { host, port, user = '', password, database = '', ssl } = new pg.Client(url);
  return { host, port, user, password: password ?? '', database, tls: tlsOf(ssl) };
}

/** The driver says true, or how TLS is to be done. */
function tlsOf(ssl: unknown): DatabaseAddress['tls'] {
  if (ssl === false) return 'none';
  const { rejectUnauthorized, checkServerIdentity } = sslSchema.parse(ssl === true ? {} : ssl);
  if (rejectUnauthorized === false) return 'unproved';
  return checkServerIdentity === undefined ? 'full' : 'authority';
}

const sslSchema = z.object({
  rejectUnauthorized: z.boolean().optional(),
  checkServerIdentity: z.unknown().optional(),
});
