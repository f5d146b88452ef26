import type { Duplex } from 'node:stream';
import pg from 'pg';
import { MessageSizes } from './message-sizes.ts';
import { accepts, requireAuthOf, type LoginMethod } from './require-auth.ts';
import { ServerUnproven, type Refused } from './server-unproven.ts';

/**
 * Logs in only by the methods that `require_auth` in the address allows, as libpq does. The driver alone answers whatever a server asks for,
 * including the password in clear text, and sends its statements to a server that asks for nothing. Connecting throws ServerUnproven.
 */
export class LoginClient extends pg.Client {
  readonly #required: string | undefined;
  #method: LoginMethod = 'none';
  #isRefused = false;
  #isLoggedIn = false;

  /** Set by the driver during a login by SCRAM; null once the server's signature has been verified. */
  declare readonly saslSession: object | null | undefined;

  constructor(config: pg.ClientConfig = {}) {
    super(config);
    this.#required = requireAuthOf(config.connectionString ?? '');
    this.#catchWhatIsUnreadable();
  }

  _handleAuthCleartextPassword(message: unknown): void {
    if (this.#takesPartIn('password')) driver._handleAuthCleartextPassword.call(this, message);
  }

  _handleAuthMD5Password(message: unknown): void {
    if (this.#takesPartIn('md5')) driver._handleAuthMD5Password.call(this, message);
  }

  _handleAuthSASL(message: unknown): void {
    if (this.#takesPartIn('scram-sha-256')) driver._handleAuthSASL.call(this, message);
  }

  /** Accepts that the server is ready for statements. The first time, the server must have done its part of the login. */
  _handleReadyForQuery(message: unknown): void {
    this.#isLoggedIn ||= this.#hasProved();
    if (this.#isLoggedIn) driver._handleReadyForQuery.call(this, message);
  }

  /** An error that the driver finds in SCRAM is the server's fault: for a wrong password of ours, Postgres sends an error. */
  _handleErrorEvent(error: Error): void {
    const isOfScram = this.#required !== undefined && /^SASL\b/.test(error.message);
    driver._handleErrorEvent.call(this, isOfScram ? this.#unproven('failed', error) : error);
    if (isOfScram) this.#end();
  }

  /**
   * Refuses messages that cannot be read, with which any program that has the port could end this process: the driver throws an error that nobody can
   * catch at a login of an unknown kind, and allocates as much as a message announces, until V8 aborts.
   */
  #catchWhatIsUnreadable(): void {
    const connection = this.connection as unknown as { attachListeners: (stream: Duplex) => void };
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (stream) => {
      attach(stream);
      const read = stream.listeners('data').at(-1) as (data: Buffer) => void;
      const sizes = new MessageSizes();
      stream.off('data', read).on('data', (data: Buffer) => {
        if (this.#isRefused) return;
        if (!this.#isLoggedIn && sizes.largestIn(data) > largestBeforeLogin) {
          this.#refuse('unreadable');
          return;
        }
        try {
          read(data);
        } catch (error) {
          if (this.#isLoggedIn) throw error;
          this.#refuse('unreadable', error instanceof Error ? error : undefined);
        }
      });
    };
  }

  #hasProved(): boolean {
    const isHalfDone = this.#method === 'scram-sha-256' && this.saslSession !== null;
    if (isHalfDone && this.#required !== undefined) this.#refuse('failed');
    return this.#takesPartIn(this.#method);
  }

  #takesPartIn(method: LoginMethod): boolean {
    this.#method = method;
    if (!accepts(this.#required, method)) this.#refuse(method);
    return !this.#isRefused;
  }

  #refuse(did: Refused, cause?: Error): void {
    if (this.#isRefused) return;
    driver._handleErrorEvent.call(this, this.#unproven(did, cause));
    this.#end();
  }

  /** Ends the session: nothing is sent any more, whatever else has come in. */
  #end(): void {
    this.#isRefused = true;
    this.connection.stream.destroy();
  }

  #unproven(did: Refused, cause?: Error): ServerUnproven {
    const { host, port } = this;
    return new ServerUnproven({ host, port, did, ...(cause && { cause }) });
  }
}

/** In bytes. The longest message that Postgres sends before the end of a login is an error. */
const largestBeforeLogin = 1024 ** 2;

/** The driver's handlers of the server's messages. It has no setting for the methods that it allows. */
const driver = pg.Client.prototype as unknown as Readonly<
  Record<
    '_handleAuthCleartextPassword' | '_handleAuthMD5Password' | '_handleAuthSASL' | '_handleReadyForQuery',
    (this: pg.Client, message: unknown) => void
  >
> & { readonly _handleErrorEvent: (this: pg.Client, error: Error) => void };
