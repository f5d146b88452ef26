import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** How a server asks for the proof of a password, or continues without one. */
export type AuthRequest =
  | 'clear text'
  | 'md5'
  | 'Kerberos'
  | 'nothing'
  | 'scram without its end'
  | 'scram with a wrong signature'
  | 'two gigabytes'
  | 'two gigabytes in a message cut up';

export interface FakePostgres {
  readonly port: number;
  /** Everything that clients sent, unchanged. */
  readonly received: () => string;
  readonly close: () => Promise<void>;
}

/** A server that another user of the machine may run on a port: it speaks Postgres's protocol, knows no password, and accepts any. */
export async function startFakePostgres(authRequest: AuthRequest, port = 0): Promise<FakePostgres> {
  let heard = '';
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let turn = 0;
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      heard += data.toString('latin1');
      if (data.length === 8 && data.readInt32BE(4) === sslRequest) socket.write('N');
      else if (authRequest === 'two gigabytes in a message cut up' && turn++ === 0)
        sendByteByByte(socket, oversizedNotice);
      else socket.write(answer(authRequest, turn++, data.toString('latin1')));
    });
  });
  await listen(server, port);
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  onTestFinished(close);
  return { port: (server.address() as AddressInfo).port, received: () => heard, close };
}

/** Listens on the port as soon as it is free. */
async function listen(server: Server, port: number): Promise<void> {
  for (;;) {
    const outcome = await new Promise<'listening' | Error>((resolve) => {
      server.once('error', resolve).listen(port, '127.0.0.1', () => {
        resolve('listening');
      });
    });
    server.removeAllListeners('error').removeAllListeners('listening');
    if (outcome === 'listening') return;
    if (!('code' in outcome) || outcome.code !== 'EADDRINUSE') throw outcome;
  }
}

/** The answer to the startup message, and then to each message of the login. */
function answer(authRequest: AuthRequest, turn: number, said: string): Buffer {
  if (authRequest === 'two gigabytes' && turn === 0)
    return Buffer.concat([oversizedNotice, Buffer.alloc(1024)]);
  if (authRequest === 'clear text' && turn === 0) return authentication(3);
  if (authRequest === 'md5' && turn === 0) return authentication(5, Buffer.from('salt'));
  if (authRequest === 'Kerberos' && turn === 0) return authentication(7);
  if (authRequest.startsWith('scram')) {
    const [, nonce = ''] = /r=([^,]+)/.exec(said) ?? [];
    if (turn === 0) return authentication(10, Buffer.from('SCRAM-SHA-256\0\0'));
    if (turn === 1) return authentication(11, Buffer.from(`r=${nonce}more,s=c2FsdA==,i=1`));
    // Sent in one piece: a client that only notes the wrong signature would be ready a moment later.
    if (authRequest === 'scram with a wrong signature' && turn === 2)
      return Buffer.concat([authentication(12, Buffer.from(`v=${'A'.repeat(43)}=`)), acceptLogin()]);
  }
  return acceptLogin();
}

function acceptLogin(): Buffer {
  return Buffer.concat([authentication(0), message('Z', Buffer.from('I'))]);
}

function authentication(code: number, rest = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(4);
  head.writeInt32BE(code);
  return message('R', Buffer.concat([head, rest]));
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** A notice that a real server may send, followed by one of the greatest length that the protocol allows. */
const oversizedNotice = Buffer.concat([
  message('N', Buffer.from('SNOTICE\0Mhello\0\0')),
  Buffer.from([0x4e, 0x7f, 0xff, 0xff, 0xff]),
]);

function sendByteByByte(socket: Socket, data: Buffer): void {
  socket.setNoDelay(true);
  const [byte] = data;
  if (byte === undefined) socket.write(Buffer.alloc(1024));
  else socket.write(data.subarray(0, 1), () => setImmediate(sendByteByByte, socket, data.subarray(1)));
}

const sslRequest = 80877103;
