import type { Sandbox } from '../../sandbox/start-sandbox.ts';

/** A client of a sandbox's API that follows the document, and does nothing more. */
export function createSandboxApi(sandbox: Pick<Sandbox, 'url'>): SandboxApi {
  function get(path: string, query: Query = {}, headers: Query = {}): Promise<Answer> {
    return ask({ method: 'GET', path }, query, headers);
  }

  async function ask({ method, path, body }: Asked, query: Query, headers: Query): Promise<Answer> {
    const url = new URL(path, sandbox.url);
    const parameters: Query = { access_token: 'sandbox-token-acme-us', ...query };
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== null) url.searchParams.set(name, value);
    }
    const sent: Query = { ...defaultHeaders, ...headers };
    const kept = Object.entries(sent).filter((header): header is [string, string] => header[1] !== null);
    const response = await fetch(url, { method, headers: kept, ...(body !== undefined && { body }) });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  return {
    get,
    send: (method, path, body, query = {}, headers = {}) =>
      ask({ method, path, ...(body !== undefined && { body }) }, query, headers),
    async readAll(path, query = {}, betweenPages = () => Promise.resolve()) {
      const records: SandboxRecord[] = [];
      let cursor: string | null | undefined = null;
      do {
        const { status, text } = await get(path, { ...query, cursor });
        if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
        const page = JSON.parse(text) as Page;
        records.push(...recordsOf(page));
        cursor = page.next_cursor;
        if (cursor) await betweenPages(records);
      } while (cursor);
      return records;
    },
  };
}

export function recordsOf(page: Page): SandboxRecord[] {
  const list = Object.values(page).find((value) => Array.isArray(value));
  return (list ?? []) as SandboxRecord[];
}

export function basicAuth(clientId: string, clientSecret: string): string {
  return `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
}

const defaultHeaders = {
  authorization: basicAuth('sandbox-client', 'sandbox-secret'),
  'x-service-version': '2023-03-14',
};

/** Null removes a parameter or header that is otherwise sent. */
export type Query = Readonly<Record<string, string | null>>;

export interface SandboxApi {
  get(path: string, query?: Query, headers?: Query): Promise<Answer>;
  /** The body is sent unchanged. */
  send(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: string,
    query?: Query,
    headers?: Query,
  ): Promise<Answer>;
  readAll(
    path: string,
    query?: Query,
    betweenPages?: (soFar: SandboxRecord[]) => Promise<unknown>,
  ): Promise<SandboxRecord[]>;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Page {
  readonly next_cursor?: string | null;
  readonly [member: string]: unknown;
}

export interface SandboxRecord {
  readonly id: string;
  readonly last_synced_at: string;
  readonly updated_at: string | null;
  readonly [field: string]: unknown;
}
