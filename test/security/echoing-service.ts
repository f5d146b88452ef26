import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

/**
 * A service that repeats its requests. It is a proxy of another service, except for requests with certain tokens, or without any: each part
 * of their answers contains the whole request, credentials first.
 */
export async function startEchoingService(
  upstream: string,
  echoes: Readonly<Record<string, Echo>>,
): Promise<string> {
  const server = createServer((asked, answer) => {
    const token = new URL(asked.url ?? '', upstream).searchParams.get('access_token');
    const echo = token === null ? refused : echoes[token];
    if (echo === undefined) proxyRequest(upstream, asked, answer);
    else echoBack(echo, { asked, answer, token: token ?? '' });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = new URL(upstream);
  address.port = String((server.address() as AddressInfo).port);
  return address.href.replace(/\/$/, '');
}

export interface Echo {
  readonly status: number;
  /** The `error_code`. Default: the access token. */
  readonly code?: string;
  /** `text` is no JSON, `list` is JSON of another shape, `broken` is no HTTP at all. */
  readonly body?: 'error' | 'text' | 'list' | 'broken';
}

const refused: Echo = { status: 403 };

function proxyRequest(upstream: string, asked: IncomingMessage, answer: ServerResponse): void {
  const { origin } = new URL(upstream);
  const passed = request(`${origin}${asked.url ?? ''}`, { method: asked.method, headers: asked.headers });
  passed.on('response', (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
  });
  // The upstream service failed.
  passed.on('error', () => answer.destroy());
  asked.pipe(passed);
}

function echoBack(
  { status, code, body = 'error' }: Echo,
  { asked, answer, token }: { asked: IncomingMessage; answer: ServerResponse; token: string },
): void {
  const { url = '', headers } = asked;
  const said = JSON.stringify({ url, headers });
  if (body === 'broken') {
    asked.socket.end(`${said}\r\n\r\n`);
    return;
  }
  answer.writeHead(status, token, {
    'content-type': 'application/json',
    location: `http://127.0.0.1:9${url}`,
    'x-service-request-id': token,
    'retry-after': '0',
    'set-cookie': `token=${token}`,
    'www-authenticate': `Basic realm="${headers.authorization ?? ''}"`,
  });
  answer.end(bodies[body]({ said, code: code ?? token }));
}

const bodies = {
  error: ({ said, code }: EchoContent) => JSON.stringify({ error_code: code, message: said, errors: [said] }),
  text: ({ said }: EchoContent) => said.slice(0, -2),
  list: ({ said, code }: EchoContent) =>
    JSON.stringify({ [code]: said, next_cursor: { said }, connection: said }),
} as const;

interface EchoContent {
  readonly said: string;
  readonly code: string;
}
