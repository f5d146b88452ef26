import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SecretKey } from '../../warehouse/secrets/secret-key.ts';

/** What an action says on the page that is shown after it. */
export interface Notice {
  readonly kind: 'done' | 'refused';
  readonly text: string;
}

const name = 'daybook_notice';
/** Browsers keep cookies up to 4 KB. */
const longest = 1_000;
const shownForSeconds = 60;

/**
 * In a cookie, as the next page may come from another process. Cookies know no ports, so whatever else answers under the host's name can set
 * one: ours are signed with the key that all processes of a warehouse have.
 */
export async function keepNotice(
  reply: FastifyReply,
  { kind, text }: Notice,
  secretKey: SecretKey,
): Promise<void> {
  // A cut may leave half of a pair of surrogates, which no cookie can say.
  const shown = Buffer.from(text.slice(0, longest)).toString();
  const signed = `${Date.now() + shownForSeconds * 1_000} ${kind} ${shown}`;
  const value = encodeURIComponent(`${signatureOf(signed, await secretKey())} ${signed}`);
  setCookie(reply, value, shownForSeconds);
}

/** Shown once. A page that refreshes itself leaves it to the one that was asked for. */
export async function takeNotice(
  request: FastifyRequest,
  reply: FastifyReply,
  secretKey: SecretKey,
): Promise<Notice | undefined> {
  const values = cookiesOf(request);
  if (values.length === 0 || request.headers['hx-request'] !== undefined) return undefined;
  setCookie(reply, '', 0);
  const key = await secretKey();
  return values.map((value) => noticeIn(value, key)).find((notice) => notice !== undefined);
}

function setCookie(reply: FastifyReply, value: string, seconds: number): void {
  reply.header('set-cookie', `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`);
}

/** Another path may have one of the same name. */
function cookiesOf({ headers }: FastifyRequest): string[] {
  return (headers.cookie ?? '')
    .split(/;\s*/)
    .filter((cookie) => cookie.startsWith(`${name}=`))
    .map((cookie) => decoded(cookie.slice(name.length + 1)));
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // Not one of ours.
    return '';
  }
}

function noticeIn(value: string, key: Buffer): Notice | undefined {
  const [, signature = '', signed = '', until, kind, text = ''] =
    /^([\w-]{43}) ((\d+) (done|refused) (.*))$/s.exec(value) ?? [];
  if (kind === undefined || Number(until) < Date.now()) return undefined;
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(signed, key)))) return undefined;
  return { kind: kind === 'done' ? 'done' : 'refused', text };
}

/** With a key made of the secret one for nothing else. */
function signatureOf(signed: string, key: Buffer): string {
  const own = Buffer.from(hkdfSync('sha256', key, '', 'daybook: notices of the console', 32));
  return createHmac('sha256', own).update(signed).digest('base64url');
}
