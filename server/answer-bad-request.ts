import { maxHeaderSize, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Answers what Node could not read as a request. Fastify's own answer is JSON without advice. Cookies that a page of another port or of a
 * sibling name has set can be larger than any request may be: a person then gets in again, by themselves where the browser takes
 * `Clear-Site-Data` (over HTTPS and on loopback).
 */
export function answerBadRequest({ code }: BadRequest, socket: Socket): void {
  if (code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) socket.write(answerTo(code, beginnings.get(socket)?.packets ?? []));
  socket.destroy();
}

type BadRequest = Error & { readonly code: string };

/**
 * Has {@link answerBadRequest} know how a request begins whose headers come in several packets, as large ones do on every network: of a
 * request that it cannot read, Node keeps the last packet only.
 */
export function keepBeginnings(server: Server): void {
  server.on('connection', (socket) => {
    const beginning: Beginning = { packets: [], bytes: 0, read: undefined };
    beginnings.set(socket, beginning);
    // Before Node reads it.
    socket.prependListener('data', (packet: Buffer) => {
      if (beginning.read?.complete === false || beginning.bytes >= maxHeaderSize) return;
      beginning.packets.push(packet);
      beginning.bytes += packet.length;
    });
  });
  server.prependListener('request', (request) => {
    const beginning = beginnings.get(request.socket);
    if (beginning !== undefined) Object.assign(beginning, { packets: [], bytes: 0, read: request });
  });
}

/** What has come of a request whose headers are not whole: as much as these may have, and at most a packet more. */
interface Beginning {
  packets: Buffer[];
  bytes: number;
  /** The one before, of which a body may still come. */
  read: IncomingMessage | undefined;
}

const beginnings = new WeakMap<Socket, Beginning>();

function answerTo(code: string, beginning: readonly Buffer[]): string {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const isByCookies = hasLargeCookies(Buffer.concat(beginning).toString('latin1'));
    return answer('431 Request Header Fields Too Large', tooLarge, isByCookies ? clearCookies : []);
  }
  return code === 'ERR_HTTP_REQUEST_TIMEOUT'
    ? answer('408 Request Timeout', 'The request did not arrive in time: send it again.')
    : answer('400 Bad Request', 'This is not a request that can be read.');
}

const tooLarge =
  'The headers of this request are larger than 16 KB. In a browser that is mostly cookies which other programs of this host ' +
  'have set: clear the cookies of this host in the browser, and load the page again.';

const clearCookies = ['Clear-Site-Data: "cookies"'];

/**
 * The cookies of the whole site are cleared, those of its other programs too. So it is not enough that a request is too large, which a link
 * on any page can be by its address: the cookies themselves have to be.
 */
function hasLargeCookies(text: string): boolean {
  const cookies = /\r\ncookie:([^\r\n]*)/i.exec(text)?.[1] ?? '';
  return cookies.length > largeCookieBytes && text.indexOf('\r\n') < longestAddressBytes;
}

/** Of the 16 KB; a browser's other headers have a tenth of it. */
const largeCookieBytes = 12 * 1024;
/** The console's own are far shorter. */
const longestAddressBytes = 2 * 1024;

function answer(status: string, sentence: string, headers: readonly string[] = []): string {
  const body = `${sentence}\n`;
  const lines = [
    `HTTP/1.1 ${status}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
