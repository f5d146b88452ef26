import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SecretKey } from '../../warehouse/secrets/secret-key.ts';

/** The message of an action, shown on the next page. */
export interface Notice {
  readonly kind: 'done' | 'refused';
  readonly text: string;
}

const name = 'daybook_notice';
/** Browsers keep cookies up to 4 KB. */
const longest = 1_000;
const shownForSeconds = 60;

/**
 * Stores the notice in a cookie, because another process may serve the next page. Cookies ignore ports, so any program under the same host
 * name can set one: ours are signed with the key shared by all processes of a warehouse.
 */
export async function keepNotice(
  reply: FastifyReply,
  { kind, text }: Notice,
  secretKey: SecretKey,
): Promise<void> {
  // The cut may leave half of a surrogate pair, which a cookie cannot hold.
  const shown = Buffer.from(text.slice(0, longest)).toString();
  const signed = `${Date.now() + shownForSeconds * 1_000} ${kind} ${shown}`;
  const value = encodeURIComponent(`${signNotice(signed, await secretKey())} ${signed}`);
  setCookie(reply, value, shownForSeconds);
}

/** Returns the notice and clears it, so it is shown once. Automatic refreshes leave it for the page that the user requests. */
export async function takeNotice(
  request: FastifyRequest,
  reply: FastifyReply,
  secretKey: SecretKey,
): Promise<Notice | undefined> {
  const values = readCookies(request);
  if (values.length === 0 || request.headers['hx-request'] !== undefined) return undefined;
  setCookie(reply, '', 0);
  const key = await secretKey();
  return values.map((value) => noticeIn(value, key)).find((notice) => notice !== undefined);
}

function setCookie(reply: FastifyReply, value: string, seconds: number): void {
  reply.header('set-cookie', `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`);
}

/** Returns every cookie of our name: another path may have set one too. */
function readCookies({ headers }: FastifyRequest): string[] {
  return (headers.cookie ?? '')
    .split(/;\s*/)
    .filter((cookie) => cookie.startsWith(`${name}=`))
    .map((cookie) => decoded(cookie.slice(name.length + 1)));
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // Not one of our cookies.
    return '';
  }
}

function noticeIn(value: string, key: Buffer): Notice | undefined {
  const [, signature = '', signed = '', until, kind, text = ''] =
    /^([\w-]{43}) ((\d+) (done|refused) (.*))$/s.exec(value) ?? [];
  if (kind === undefined || Number(until) < Date.now()) return undefined;
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(signNotice(signed, key)))) return undefined;
  return { kind: kind === 'done' ? 'done' : 'refused', text };
}

/** Signs with a key that is derived from the secret key for this purpose alone. */
function signNotice(signed: string, key: Buffer): string {
  const own = Buffer.from(hkdfSync('sha256', key, '', 'daybook: notices of the console', 32));
  return createHmac('sha256', own).update(signed).digest('base64url');
}
