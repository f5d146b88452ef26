import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createApiClient, type ApiClient, type ApiClientSettings } from '../../source/api-client.ts';
import type { RequestBudget } from '../../source/request-budget.ts';

/** An HTTP server that answers as a test says, and remembers its requests. */
export interface ScriptedApi {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** Resolves with the n-th request, counted from 1, once it has arrived. */
  arrival(n: number): Promise<SeenRequest>;
  /** TCP connections accepted so far. */
  connections(): number;
}

export interface SeenRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly rawUrl: string;
  readonly headers: IncomingHttpHeaders;
  /** Resolves if the client disconnects before the answer is complete. */
  readonly abandoned: Promise<void>;
}

export type Script = (request: SeenRequest, response: ServerResponse) => void;

export async function startScriptedApi(script: Script): Promise<ScriptedApi> {
  const requests: SeenRequest[] = [];
  const arrivals = new EventEmitter();
  let connections = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://scripted');
    const abandoned = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const seen: SeenRequest = {
      path: url.pathname,
      query: url.searchParams,
      rawUrl: request.url ?? '/',
      headers: request.headers,
      abandoned,
    };
    requests.push(seen);
    arrivals.emit('request');
    script(seen, response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    async arrival(n) {
      for (;;) {
        const request = requests[n - 1];
        if (request !== undefined) return request;
        await once(arrivals, 'request');
      }
    },
  };
}

export function answerJson(
  response: ServerResponse,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, {
    'content-type': 'application/json',
    'x-service-request-id': 'req_1',
    ...headers,
  });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export const accessToken = 'token-that-must-not-be-seen';
export const clientSecret = 'secret-that-must-not-be-seen';

/** A client of that server whose budget allows everything and records what was reported to it. */
export function clientOf(
  api: { readonly url: string },
  settings: Partial<ApiClientSettings> = {},
): { client: ApiClient; budget: RecordingBudget } {
  const budget = recordingBudget();
  const client = createApiClient({
    baseUrl: api.url,
    clientId: 'client',
    clientSecret,
    version: '2023-03-14',
    budget,
    ...settings,
  });
  onTestFinished(() => client.close());
  return { client, budget };
}

interface RecordingBudget extends RequestBudget {
  /** The reported silences, in milliseconds. */
  readonly reported: number[];
  taken(): number;
}

function recordingBudget(): RecordingBudget {
  const reported: number[] = [];
  let taken = 0;
  return {
    reported,
    taken: () => taken,
    take(signal) {
      signal?.throwIfAborted();
      taken += 1;
      return Promise.resolve({ redeem: () => true, release: () => undefined });
    },
    reportRateLimited(milliseconds) {
      reported.push(milliseconds);
      return Promise.resolve();
    },
  };
}

export const billsRequest = {
  accessToken,
  path: '/accounting/bills',
  plural: 'bills',
  query: { sort: 'last_synced_at ASC' },
} as const;
