import type { FastifyReply, FastifyRequest } from 'fastify';

/** What an action says on the page that is shown after it. */
export interface Notice {
  readonly kind: 'done' | 'refused';
  readonly text: string;
}

const name = 'daybook_notice';
/** Browsers keep cookies up to 4 KB. */
const longest = 1_000;

/** In a cookie, as the next page may come from another process; nobody else can put words into it. */
export function keepNotice(reply: FastifyReply, { kind, text }: Notice): void {
  const value = encodeURIComponent(`${kind} ${text.slice(0, longest)}`);
  reply.header('set-cookie', `${name}=${value}; Path=/; Max-Age=60; HttpOnly; SameSite=Strict`);
}

/** Shown once. A page that refreshes itself leaves it to the one that was asked for. */
export function takeNotice(request: FastifyRequest, reply: FastifyReply): Notice | undefined {
  const value = cookieOf(request);
  if (value === undefined || request.headers['hx-request'] !== undefined) return undefined;
  reply.header('set-cookie', `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`);
  const [, kind, text = ''] = /^(done|refused) (.*)$/s.exec(decoded(value)) ?? [];
  return kind === undefined ? undefined : { kind: kind === 'done' ? 'done' : 'refused', text };
}

function cookieOf({ headers }: FastifyRequest): string | undefined {
  const cookies = (headers.cookie ?? '').split(/;\s*/);
  return cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // Not one of ours.
    return '';
  }
}
