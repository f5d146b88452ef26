import { databaseAddress } from '../warehouse/session/database-address.ts';

/** Returns the parts of a login's URL, as the forms of BI tools ask for them. The host is a name, an address or the directory of a socket. */
export function loginParts({ href }: URL): LoginParts {
  const { host, port, database, user, password } = databaseAddress(href);
  return { url: href, host, port, database, user, password };
}

interface LoginParts {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
}
