import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { codeOf } from '../../errors/code-of.ts';
import { keepAlive } from './keep-alive.ts';
import { LoginClient } from './login-client.ts';

export interface LoginRelay {
  /** Ends the relayed sessions too. */
  close(): Promise<void>;
}

/**
 * Listens on a Unix socket, logs in to the server of `url` for each client that connects there, and then relays what both send. So clients need no
 * password: libpq would send it to any server that asks, and again whenever it reconnects. The socket must be in a directory that only this user may
 * enter.
 */
export async function relayLogins(url: string, socketPath: string): Promise<LoginRelay> {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('close', () => clients.delete(client)).on('error', () => client.destroy());
    void relay(client, url);
  }).listen(socketPath);
  await once(server, 'listening');
  await chmod(socketPath, 0o600);
  return {
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}

async function relay(client: Socket, url: string): Promise<void> {
  const message = await readStartupMessage(client);
  if (message.readInt32BE(4) === cancelRequest) {
    cancel(client, { url, message });
    return;
  }
  try {
    const { server, greeting } = await logIn(url, message);
    if (client.destroyed) server.destroy();
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    client.write(greeting);
    client.pipe(server).pipe(client);
  } catch (error) {
    client.end(refusal(error));
  }
}

/** Returns the startup message of a client, after telling it that no encryption is needed here. */
async function readStartupMessage(client: Socket): Promise<Buffer> {
  for (;;) {
    const message = await firstMessage(client);
    if (!encryptionRequests.includes(message.readInt32BE(4))) return message;
    client.write('N');
  }
}

/** Reads a client's first message. Clients send no more than one before they are answered. */
function firstMessage(client: Socket): Promise<Buffer> {
  let heard = Buffer.alloc(0);
  return new Promise((resolve) => {
    const hear = (data: Buffer): void => {
      heard = Buffer.concat([heard, data]);
      const length = heard.length < 8 ? 8 : heard.readUInt32BE(0);
      if (length < 8 || length > longestStart) client.destroy();
      else if (heard.length >= length) {
        client.off('data', hear).pause();
        resolve(heard);
      }
    };
    client.on('data', hear).resume();
  });
}

/**
 * Relays a request to cancel. The server sees a session's number and key, which mean nothing to others. It closes once it is done, as clients expect.
 */
function cancel(client: Socket, { url, message }: { url: string; message: Buffer }): void {
  const { host, port } = new LoginClient({ connectionString: url });
  const server = connect({ host, port }, () => server.write(message));
  server.on('error', () => undefined).on('close', () => client.destroy());
}

async function logIn(url: string, startup: Buffer): Promise<{ server: Duplex; greeting: Buffer }> {
  const login = new RelayedLogin(url, startup);
  // A session that breaks informs its client by closing.
  login.on('error', () => undefined);
  await login.connect();
  return { server: login.takeStream(), greeting: login.greeting() };
}

/** Logs in with the startup message of another client, and so with its database and settings. */
class RelayedLogin extends LoginClient {
  readonly #isNewer: boolean;
  readonly #parameters: Buffer[] = [];

  /** The IDs with which a client can cancel statements; set by the driver. */
  declare readonly processID: number;
  declare readonly secretKey: number;

  constructor(url: string, startup: Buffer) {
    super({ connectionString: url, connectionTimeoutMillis: 10_000, ...keepAlive });
    this.#isNewer = startup.readInt32BE(4) !== protocol3;
    const known = Buffer.from(startup);
    known.writeInt32BE(protocol3, 4);
    const connection = this.connection as unknown as { startup: () => void };
    connection.startup = () => this.connection.stream.write(known);
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: Parameter) => {
      this.#parameters.push(message('S', `${parameterName}\0${parameterValue}\0`));
    });
  }

  /** Returns what a client is sent after a successful login. */
  greeting(): Buffer {
    return Buffer.concat([
      ...(this.#isNewer ? [message('v', numbers(protocol3, 0))] : []),
      message('R', numbers(0)),
      ...this.#parameters,
      message('K', numbers(this.processID, this.secretKey)),
      message('Z', 'I'),
    ]);
  }

  /** Detaches the stream from the driver, which reads nothing of it any more. */
  takeStream(): Duplex {
    const { stream } = this.connection;
    stream.removeAllListeners('data');
    return stream;
  }
}

interface Parameter {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** Returns an error in the form in which the server would send it. */
function refusal(error: unknown): Buffer {
  const code = String(codeOf(error));
  const sqlState = /^[0-9A-Z]{5}$/.test(code) ? code : connectionFailure;
  const text = error instanceof Error ? error.message : String(error);
  return message('E', `SFATAL\0VFATAL\0C${sqlState}\0M${text}\0\0`);
}

function message(type: string, body: string | Buffer): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(type), numbers(bytes.length + 4), bytes]);
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, 4 * index);
  return bytes;
}

const protocol3 = 3 << 16;
const cancelRequest = 80877102;
/** Requests for TLS and for GSS. */
const encryptionRequests = [80877103, 80877104];
/** The limit of Postgres. */
const longestStart = 10_000;
const connectionFailure = '08006';
