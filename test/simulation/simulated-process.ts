import { EventEmitter, once } from 'node:events';
import { Kysely, PostgresDialect } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { FindHeld } from '../../resources/source-record.ts';
import type { ApiClient, ListRequest } from '../../source/api-client.ts';
import type { ListPage } from '../../source/responses.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { Database } from '../../warehouse/tables/database.ts';
import type { Party, StepScheduler } from './step-scheduler.ts';

/** A worker process that can be killed before and after any statement, and can be given up while it still runs. */
export class SimulatedProcess implements Party {
  readonly #scheduler: StepScheduler;
  readonly #endSession: (pid: number) => Promise<void>;
  readonly #onAnswer: OnAnswer | undefined;
  readonly #onLostCommit: (() => Promise<void>) | undefined;
  readonly #clients = new Set<PoolClient>();
  #dead = false;
  #losesCommit = false;
  #stepsLeft = Infinity;
  #giveUp: () => void = () => undefined;
  /** Resolves when Temporal no longer counts on the process: it is dead, or does not answer. */
  readonly lost: Promise<void>;

  constructor(
    turns: StepScheduler,
    endSession: (pid: number) => Promise<void>,
    callbacks: ProcessCallbacks = {},
  ) {
    this.#scheduler = turns;
    this.#endSession = endSession;
    this.#onAnswer = callbacks.onAnswer;
    this.#onLostCommit = callbacks.onLostCommit;
    this.lost = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
  }

  isDead(): boolean {
    return this.#dead;
  }

  isGivenUp(): boolean {
    return this.#stepsLeft < Infinity;
  }

  /** Lets the process run for so many more steps, as one that is cut off from Temporal does. */
  giveUp(steps: number): void {
    this.#stepsLeft = Math.min(this.#stepsLeft, steps);
    this.#giveUp();
  }

  /** Counts a step. False: none was left. */
  hasStepLeft(): boolean {
    this.#stepsLeft -= 1;
    return this.#stepsLeft >= 0;
  }

  /** Makes Postgres confirm, and lose to a standby's takeover, the next commit that lands, compares or deletes records, or plans a backfill. */
  loseCommit(): void {
    this.#losesCommit = true;
  }

  /** Kills the process and its sessions. Postgres rolls back their open transactions. */
  async kill(): Promise<void> {
    if (this.#dead) return;
    this.#dead = true;
    this.#stepsLeft = 0;
    this.#scheduler.rejectStepsOf(this);
    for (const client of this.#clients) await this.#endSession(pidOf(client));
    this.#giveUp();
  }

  /** The warehouse as one activity of this process sees it. */
  warehouse(pool: Pool, key: string): Warehouse {
    const guarded = new Proxy(pool, {
      get: (target, name): unknown => {
        if (name === 'connect') return () => this.#connect(target, key);
        if (name === 'query') return (...given: unknown[]) => this.#queryOnce(target, key, given);
        return Reflect.get(target, name, target);
      },
    });
    const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: guarded }) });
    return { pool: guarded, db, close: () => Promise.resolve() };
  }

  /** The service as one activity of this process sees it: an answer counts as one step. */
  api(api: ApiClient, key: string): ApiClient {
    return {
      list: (request) => this.#list(api, key, request),
      fetch: (request) =>
        this.#scheduler.runStep({ key: `${key} fetch`, party: this }, async () => {
          try {
            return await api.fetch(request);
          } finally {
            // A missing record is an answer too.
            this.#onAnswer?.(key, { path: request.resource.listPath });
          }
        }),
      close: () => Promise.resolve(),
    };
  }

  /** Queries to the warehouse about an answer are a step of their own. */
  async #list(api: ApiClient, key: string, request: ListRequest): Promise<ListPage> {
    const answer = new EventEmitter();
    const asksWarehouse = once(answer, 'asks warehouse');
    const findHeld: FindHeld = (texts) => {
      answer.emit('asks warehouse');
      return request.findHeld?.(texts) ?? Promise.resolve(new Map());
    };
    const listed = await this.#scheduler.runStep({ key: `${key} list`, party: this }, async () => {
      const page = api.list({ ...request, findHeld });
      await Promise.race([asksWarehouse, page]);
      this.#onAnswer?.(key, request);
      return { page };
    });
    return listed.page;
  }

  async #connect(pool: Pool, key: string): Promise<PoolClient> {
    const client = await this.#scheduler.runUnscheduled(() => pool.connect());
    this.#clients.add(client);
    let isLosable = losableActivities.includes(key.split(' ')[3] ?? '');
    return new Proxy(client, {
      get: (target, name): unknown => {
        if (name === 'query') {
          return (...given: [string]) => {
            const turn = { key: `${key} ${statementPrefix(given[0])}`, party: this, pid: pidOf(target) };
            return this.#scheduler.runStep(turn, () => {
              isLosable ||= locksToLand(given[0]);
              return given[0] === 'commit' && isLosable ? this.#commit(target) : target.query(...given);
            });
          };
        }
        if (name === 'release') {
          return (error?: Error | boolean) => {
            this.#clients.delete(target);
            target.release(this.#dead || error);
          };
        }
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  }

  async #commit(client: PoolClient): Promise<unknown> {
    if (!this.#losesCommit) return client.query('commit');
    this.#losesCommit = false;
    const ended = await client.query('rollback');
    await this.#onLostCommit?.();
    return ended;
  }

  async #queryOnce(pool: Pool, key: string, given: unknown[]): Promise<unknown> {
    const client = await this.#connect(pool, key);
    try {
      return await (client.query as (...given: unknown[]) => Promise<unknown>)(...given);
    } finally {
      client.release();
    }
  }
}

interface ProcessCallbacks {
  readonly onAnswer?: OnAnswer;
  /** Called when a standby without the commit has taken over. */
  readonly onLostCommit?: () => Promise<void>;
}

/** Receives the name of the attempt and its request for each answer. A fetch of a record has no query. */
export type OnAnswer = (
  key: string,
  asked: { path: string; query?: Readonly<Record<string, string>> },
) => void;

/** Activities that commit data on which later ones of their run depend. */
const losableActivities = [
  'planBackfill',
  'findAbsent',
  'listAgain',
  'confirmByFetch',
  'confirmBySecondListing',
  'settleResource',
];

/** The beginning of a statement, enough to recognize a commit. */
function statementPrefix(statement: unknown): string {
  return typeof statement === 'string' ? statement.trim().slice(0, 8).toLowerCase() : 'named';
}

function locksToLand(statement: unknown): boolean {
  const { name } = statement as { name?: string };
  return name === 'lock pass' || name === 'lock resource';
}

function pidOf(client: PoolClient): number {
  return (client as unknown as { processID: number }).processID;
}
