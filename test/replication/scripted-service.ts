import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createApiClient, type ApiClient } from '../../source/api-client.ts';
import { readWebhook } from '../../source/read-webhook.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';
import { eventually } from '../support/eventually.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { rows, type Row } from '../support/rows.ts';
import { discardEntries } from '../../warehouse/quarantine/discard-entries.ts';
import { listQuarantine } from '../../warehouse/quarantine/read-quarantine.ts';
import type { DeletionQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { Driver } from '../simulation/driver.ts';
import { createDependencies, secretKey } from '../simulation/create-dependencies.ts';

export type Answer = { status: number; body: string } | undefined;

/** A service in front of the product's activities, whose every answer a test can script, beyond what the sandbox would answer. */
export class ScriptedService {
  /** Raw JSON texts of the records by resource, in the order in which lists show them. */
  lists: Record<string, string[]> = {};
  events: string[] = [];
  /** Replaces the usual answer. */
  onList: (resource: string, query: URLSearchParams) => Answer | Promise<Answer> = () => undefined;
  onEvents: (query: URLSearchParams) => Answer | Promise<Answer> = () => undefined;
  /** Answers a request for one record of a list, which asks for the company or the time and is not part of a listing. */
  onOne: (resource: string) => Answer = () => undefined;
  onFetch: (resource: string, id: string) => Answer | Promise<Answer> = () => undefined;
  /** The `Date` of responses; null: none. */
  date: () => Date | null = () => new Date();
  requests: string[] = [];
  url = '';
  readonly connection = `co-${randomBytes(4).toString('hex')}`;
  lookbackMilliseconds = 600_000;
  /** The longest wait of a run before a retry. */
  longestWaitMilliseconds = 1_000;
  readonly failures: string[] = [];
  /** The warehouse of the activities. */
  warehouse: Warehouse;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  constructor(warehouse: Warehouse) {
    this.warehouse = warehouse;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    this.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    await addConnection(this.warehouse, secretKey, {
      connectionId: this.connection,
      apiAddress: this.url,
      token: `token-${this.connection}`,
      expandPlatformData: false,
    });
    return this;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  sync(resources: readonly string[]): Promise<Record<string, unknown>> {
    return this.#play((driver, id) => driver.sync(id, resources));
  }

  /** Runs the tick of a schedule, and the sync that it starts. */
  tick(resources: readonly string[]): Promise<Record<string, unknown>> {
    return this.#play((driver, id) => driver.tick(id, resources));
  }

  backfill(
    resources: readonly string[],
    days: { from: string; to: string },
  ): Promise<Record<string, unknown>> {
    return this.#play((driver, id) => driver.backfill(id, resources, days));
  }

  reconcile(resources: readonly string[]): Promise<Record<string, unknown>> {
    return this.#play((driver, id) => driver.reconcile(id, resources));
  }

  /** Runs a reconcile that a person started with an approval. */
  approve(resources: readonly string[], approved: DeletionQuestion): Promise<Record<string, unknown>> {
    return this.#play((driver, id) =>
      driver
        .reconcile(id, resources, { approved, judge: () => Promise.resolve() })
        .catch((error: unknown) => void this.failures.push(String(error))),
    );
  }

  async applyWebhooks(): Promise<void> {
    await this.#play((driver, id) => driver.applyWebhooks(id));
  }

  /** Stores a webhook about a bill, and applies it. */
  async deliverWebhook(code: BillCode, bill: string): Promise<void> {
    await this.storeWebhook(code, bill);
    await this.applyWebhooks();
  }

  /** Stores a webhook about a bill without applying it. */
  async storeWebhook(code: BillCode, bill: string): Promise<void> {
    const body = `{"type":"BILL","code":"BILL_${code}","access_token":"t","connection_id":"svc-${this.connection}","bill":${bill}}`;
    const read = readWebhook(Buffer.from(body));
    if (read === undefined) throw new Error('That is no webhook.');
    await storeWebhooks(this.warehouse, { apiAddress: this.url, webhooks: [read] });
  }

  /** Waits until a reconcile has listed the stream to its end. */
  async untilListed(stream: string): Promise<void> {
    await eventually(async () => {
      const listed = await this.rows(
        `select from sync.passes where connection_id = $1 and stream = '${stream}' and completed_at is not null`,
      );
      return listed.length > 0 ? true : undefined;
    });
  }

  rows(query: string): Promise<Row[]> {
    return rows(this.warehouse, query, [this.connection]);
  }

  /** The `connection` of its responses. */
  get connectionJson(): string {
    return `{"id":"svc-${this.connection}","orgId":"org","platform":"QUICKBOOKS"}`;
  }

  /** Discards everything in quarantine, as a person would. */
  async discardAll(): Promise<void> {
    const { warehouse, connection: connectionId } = this;
    const entries = await listQuarantine(warehouse, { all: false, connectionId });
    await discardEntries(warehouse, { entries, why: 'test' });
  }

  /** Whether a reconcile is wanted for a stream, or for any. */
  async isReconcileWanted(stream = '%'): Promise<boolean> {
    const wanted = await this.rows(
      `select from sync.streams where connection_id = $1 and stream like '${stream}' and reconcile_wanted_at is not null`,
    );
    return wanted.length > 0;
  }

  async ids(table: string): Promise<string[]> {
    const found = await this.rows(`select id from finance.${table} where connection_id = $1 order by id`);
    return found.map(({ id }) => String(id));
  }

  /** A client without a limit on requests. */
  createApi(): ApiClient {
    return createApiClient({
      baseUrl: this.url,
      clientId: 'c',
      clientSecret: 's',
      version: '2023-03-14',
      budget: {
        take: () => Promise.resolve({ redeem: () => true, release: () => undefined }),
        reportRateLimited: () => Promise.resolve(),
      },
    });
  }

  async #play(run: (driver: Driver, id: string) => Promise<void>): Promise<Record<string, unknown>> {
    const api = this.createApi();
    const dependencies = {
      ...createDependencies({
        warehouse: this.warehouse,
        api,
        apiAddress: this.url,
        lookbackMilliseconds: this.lookbackMilliseconds,
      }),
    };
    dependencies.policies = { ...dependencies.policies, giveUpAfterMilliseconds: 3_000 };
    const driver = new Driver({
      connection: this.connection,
      worker: () => ({
        lost: new Promise(() => undefined),
        isDead: () => false,
        dependencies: () => dependencies,
      }),
      pass: (milliseconds) => wait(Math.min(milliseconds, this.longestWaitMilliseconds)),
      isTerminated: () => false,
      onFailure: (failure) => this.failures.push(`${failure.type}: ${failure.message}`),
    });
    const id = randomUUID();
    await run(driver, id);
    await api.close();
    const streams = await rows(
      this.warehouse,
      `select stream, status, failure_type, quarantined::int, deleted::int from sync.run_streams where run_id = $1 order by stream`,
      [id],
    );
    const [{ status } = { status: null }] = await rows(
      this.warehouse,
      'select status from sync.runs where run_id = $1',
      [id],
    );
    return { id, status, streams };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://x');
    this.requests.push(request.url ?? '');
    const { status, body } = await this.#answer(url);
    const date = this.date();
    response.sendDate = false;
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(date === null ? {} : { date: date.toUTCString() }),
    });
    response.end(body);
  }

  async #answer(url: URL): Promise<{ status: number; body: string }> {
    const connection = `"connection":${this.connectionJson}`;
    if (url.pathname === '/events') {
      const own = await this.onEvents(url.searchParams);
      if (own !== undefined) return own;
      const floor = Number(url.searchParams.get('last_synced_at_min') ?? -Infinity);
      const shown = this.events.filter((text) => {
        const at = Date.parse((JSON.parse(text) as { last_synced_at: string }).last_synced_at);
        return at >= floor || Number.isNaN(at);
      });
      return { status: 200, body: `{"events":[${shown.join(',')}],"next_cursor":null}` };
    }
    const [, resource = '', id] = /^\/(?:accounting\/)?([a-z_]+)(?:\/(.+))?$/.exec(url.pathname) ?? [];
    const records = this.lists[resource] ?? [];
    if (id === undefined) {
      // The only other parameter is the token; a listing has an order or a floor.
      const isOne = url.searchParams.get('limit') === '1' && url.searchParams.size === 2;
      const own = isOne ? this.onOne(resource) : await this.onList(resource, url.searchParams);
      if (own !== undefined) return own;
      const floor = Number(
        url.searchParams.get('last_synced_at_min') ?? url.searchParams.get('updated_at_min') ?? -Infinity,
      );
      const field = resource === 'subscriptions' ? 'updated_at' : 'last_synced_at';
      const type = url.searchParams.get('expense_type');
      const shown = records.filter((text) => {
        const record = JSON.parse(text) as Record<string, string>;
        if (resource === 'expenses' && record.expense_type !== (type ?? 'expense')) return false;
        return Date.parse(record[field] ?? '') >= floor || Number.isNaN(Date.parse(record[field] ?? ''));
      });
      return { status: 200, body: `{${connection},"${resource}":[${shown.join(',')}],"next_cursor":null}` };
    }
    const name = decodeURIComponent(id);
    const own = await this.onFetch(resource, name);
    if (own !== undefined) return own;
    const found = records.find((text) => (JSON.parse(text) as { id?: unknown }).id === name);
    if (found === undefined) return { status: 410, body: '{"error_code":"GONE"}' };
    return { status: 200, body: `{${connection},"${resource.replace(/s$/, '')}":${found}}` };
  }
}

/** A time of the service, so many milliseconds from now, as JSON text. */
export function at(milliseconds = 0): string {
  return `"${new Date(Date.now() + milliseconds).toISOString()}"`;
}

/** A page of a list as the service answers with it. */
export function page(
  service: ScriptedService,
  name: string,
  records: readonly string[],
  next: string | null = null,
): NonNullable<Answer> {
  const body = `{"connection":${service.connectionJson},"${name}":[${records.join(',')}],"next_cursor":${JSON.stringify(next)}}`;
  return { status: 200, body };
}

/** A page of the events, which names no company. */
export function eventsPage(events: readonly string[], next: string | null = null): NonNullable<Answer> {
  return { status: 200, body: `{"events":[${events.join(',')}],"next_cursor":${JSON.stringify(next)}}` };
}

/** Answers the next list request with these records, once `answer` is called. */
export function answerLater(
  service: ScriptedService,
  records: readonly string[],
): { asked: Promise<void>; answer: () => void } {
  let answer = (): void => undefined;
  const given = new Promise<void>((resolve) => (answer = resolve));
  const asked = new Promise<void>((resolve) => {
    service.onList = async (resource) => {
      service.onList = () => undefined;
      resolve();
      await given;
      return page(service, resource, records);
    };
  });
  return { asked, answer };
}

type BillCode = 'CREATED' | 'UPDATED' | 'DELETED';
