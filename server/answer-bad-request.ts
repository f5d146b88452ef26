import { maxHeaderSize, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Answers a request that Node could not parse; Fastify's own answer is JSON without advice. Cookies set by a page on another port or by a
 * sibling host name can exceed the header limit. `Clear-Site-Data` then removes them without the user's help, in browsers that support it
 * (over HTTPS and on loopback).
 */
export function answerBadRequest({ code }: BadRequest, socket: Socket): void {
  if (code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) socket.write(answerTo(code, beginnings.get(socket)?.packets ?? []));
  socket.destroy();
}

type BadRequest = Error & { readonly code: string };

/**
 * Records the first packets of each request for {@link answerBadRequest}. Large headers arrive in several packets on any network, and Node
 * keeps only the last packet of a request that it cannot parse.
 */
export function keepBeginnings(server: Server): void {
  server.on('connection', (socket) => {
    const beginning: Beginning = { packets: [], bytes: 0, read: undefined };
    beginnings.set(socket, beginning);
    // Runs before Node parses the packet.
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

/** The bytes received of a request whose headers are incomplete: at most the maximum header size, plus one packet. */
interface Beginning {
  packets: Buffer[];
  bytes: number;
  /** The previous request, whose body may still be arriving. */
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
 * True if the cookies themselves are too large. A large request alone is not enough, because a link on any page can produce one with a long
 * address, and clearing removes the cookies of the whole site, including those of other programs on it.
 */
function hasLargeCookies(text: string): boolean {
  const cookies = /\r\ncookie:([^\r\n]*)/i.exec(text)?.[1] ?? '';
  return cookies.length > largeCookieBytes && text.indexOf('\r\n') < longestAddressBytes;
}

/** Out of the 16 KB limit; the other headers of a browser take about a tenth of it. */
const largeCookieBytes = 12 * 1024;
/** The console's own addresses are far shorter. */
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
