import type { Socket } from 'node:net';

/**
 * Answers what Node could not read as a request. Fastify's own answer is JSON without advice. Cookies that a page of another port or of a
 * sibling name has set can be larger than any request may be: a person then gets in again, by themselves where the browser takes
 * `Clear-Site-Data` (over HTTPS and on loopback).
 */
export function answerBadRequest(error: BadRequest, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) socket.write(answerTo(error));
  socket.destroy();
}

/** Of the packet in which reading failed, Fastify has the type of its JSON. */
type BadRequest = Error & { readonly code: string; readonly rawPacket: unknown };

function answerTo({ code, rawPacket }: BadRequest): string {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const isByCookies = Buffer.isBuffer(rawPacket) && hasLargeCookies(rawPacket);
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
function hasLargeCookies(packet: Buffer): boolean {
  const text = packet.toString('latin1');
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
