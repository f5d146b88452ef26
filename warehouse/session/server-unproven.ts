import type { LoginMethod } from './require-auth.ts';

/** The program that listens where Postgres is expected did not log us in as the address requires. It was told no password. */
export class ServerUnproven extends Error {
  override readonly name = 'ServerUnproven';
  /** SQLSTATE 08001, no connection could be made: retried as when Postgres is away, because it passes when Postgres is back. */
  readonly code = '08001';

  constructor({ host, port, did, cause }: { host: string; port: number; did: Refused; cause?: Error }) {
    super(
      `What listens on ${host}:${port} does not prove that it is your Postgres: ${inWords[did]}. ` +
        'It was told no password. Another program may have taken that port: ' +
        `find it ("lsof -nP -iTCP:${port} -sTCP:LISTEN", as root), end it, and try again.`,
      { cause },
    );
  }
}

export type Refused = LoginMethod | 'failed' | 'unreadable';

const inWords: Readonly<Record<Refused, string>> = {
  none: 'it asks for no proof that the password is known, and gives none',
  password: 'it asks for the password in clear text',
  md5: 'it asks for an MD5 hash of the password',
  'scram-sha-256': 'it asks for a login by SCRAM, which the address does not allow',
  unreadable: 'it asks for a login of a kind that Daybook does not know, or says what Postgres never says',
  failed: 'its part of the login by SCRAM is not that of a server that knows the password',
};
