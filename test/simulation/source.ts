import { platformNamed, type Platform } from '../../sandbox/world/platforms.ts';
import { resources as served, type ResourceName } from '../../sandbox/world/resources.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { commandsOf } from './commands-of.ts';
import type { Change, History } from './history.ts';
import type { Post } from './post.ts';
import { nameOf, trueRecord, type TrueRecord } from './true-record.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The company's books at the service, and the truth about every record that was ever in them. */
export class Source {
  readonly records = new Map<string, TrueRecord>();
  /** Whether anybody has read a part of a list: what arrives late behind that place, nobody can know of. */
  reading = false;
  /** A platform may lack the rest. */
  readonly listed: readonly ResourceName[];
  readonly #parts: SourceParts;
  readonly #platform: Platform;
  #created = 0;

  constructor(parts: SourceParts) {
    this.#parts = parts;
    this.#platform = platformNamed(parts.history.platform);
    this.listed = parts.history.resources.filter((resource) => this.#platform.lists.includes(resource));
  }

  /** The service's, Unix milliseconds. */
  now(): number {
    const { clock, history } = this.#parts;
    return clock.now() + history.skewHours * 3_600_000;
  }

  /** Takes note of what the company begins with. */
  async open(): Promise<void> {
    const { admin, connection } = this.#parts;
    for (const resource of this.listed) {
      for (const line of await admin.content(connection, resource)) {
        const record = JSON.parse(line) as Record<string, string>;
        const { id = '', last_synced_at: synced, updated_at: updated } = record;
        const version = Date.parse(synced ?? updated ?? '');
        const isRefund = record.expense_type === 'refund';
        this.records.set(nameOf({ resource, id }), trueRecord({ resource, id, version, isRefund }));
      }
    }
  }

  async apply(change: Change): Promise<void> {
    const { clock, admin, connection } = this.#parts;
    const resource = this.listed[change.which % Math.max(1, this.listed.length)];
    if (resource === undefined) return;
    const isNew = change.what !== 'correct at the same time';
    if (isNew) await clock.pass(change.milliseconds);
    const targets = this.#targetsOf(change, resource);
    if (targets.length === 0) return;
    // Two versions of one record in one millisecond could not be told apart, by anybody.
    if (isNew && targets.some((record) => this.#changedNow(record))) await clock.pass(1);
    const commands = targets.flatMap((record) => commandsOf(change, record, { connection, now: this.now() }));
    const tell = (code: string): Promise<void> =>
      this.#announce(change, targets.slice(0, mostAnnounced), code);
    if (change.what === 'delete' && this.#announces(resource)) await tell('DELETED');
    await admin.execute(...commands);
    for (const record of targets) this.#note(change, record);
    if (!change.what.startsWith('delete') && change.what !== 'touch')
      await tell(change.what.includes('create') ? 'CREATED' : 'UPDATED');
  }

  #announces(resource: ResourceName): boolean {
    return this.#platform.deletionEvents.includes(resource);
  }

  #changedNow(record: TrueRecord): boolean {
    const { version, announcedAt, deletedAt } = record;
    return this.records.has(nameOf(record)) && [version, announcedAt, deletedAt].includes(this.now());
  }

  #targetsOf({ what, which, count: wish }: Change, resource: ResourceName): TrueRecord[] {
    // A list of very many pages costs time and shows nothing more.
    const count = Math.min(wish, this.#parts.history.pageSize * 10);
    if (what.startsWith('create')) return Array.from({ length: count }, () => this.#create(resource, what));
    const wanted = [...this.records.values()].filter(
      (one) => one.resource === resource && one.live !== (what === 'recreate'),
    );
    if (what === 'flip the type' && resource !== 'expenses') return [];
    if (what === 'correct at the same time')
      return wanted.filter(({ version }) => version === this.now()).slice(0, 1);
    const start = wanted.length === 0 ? 0 : which % wanted.length;
    return [...wanted.slice(start), ...wanted.slice(0, start)].slice(0, count);
  }

  #create(resource: ResourceName, what: Change['what']): TrueRecord {
    const late =
      what === 'create with old times' ? 40 * dayMilliseconds : what === 'create late' ? this.#lateness() : 0;
    return trueRecord({
      ...{ resource, id: `r${(this.#created += 1)}`, version: this.now() - late },
      hidden: what === 'create with old times' || (this.reading && (late > 0 || !isOrdered(resource))),
    });
  }

  /** The service may list a record later than others that it has synced after it: that is what the lookback is for. */
  #lateness(): number {
    return this.#parts.history.lookbackSeconds * 1000;
  }

  #note({ what }: Change, record: TrueRecord): void {
    this.records.set(nameOf(record), record);
    const now = this.now();
    if (what.startsWith('create')) return;
    if (what === 'delete' || what === 'delete unnoticed') {
      const announced = what === 'delete' && this.#announces(record.resource);
      Object.assign(record, { live: false, everDeleted: true, deletedAt: now, hidden: !announced });
      record.announcedAt = announced ? now : null;
      return;
    }
    if (what === 'touch' && record.resource === 'subscriptions') return;
    record.version = now;
    record.hidden = what === 'correct at the same time' || (this.reading && !isOrdered(record.resource));
    if (what === 'recreate') record.live = true;
    if (what === 'flip the type') record.isRefund = !record.isRefund;
    if (what === 'spoil') record.spoiled = true;
    else if (writesAll(what, record)) record.spoiled = false;
  }

  async #announce({ webhook }: Change, targets: readonly TrueRecord[], code: string): Promise<void> {
    const { admin, connection, post } = this.#parts;
    const [first] = targets;
    if (first === undefined || webhook === 'lost') return;
    const { webhookType: type, singular } = served[first.resource];
    if (type === null) return;
    const lines = await admin.content(connection, first.resource);
    const delay = webhook === 'next episode' ? 1 : webhook === 'two episodes later' ? 2 : 0;
    for (const { id } of targets) {
      const text = lines.find((line) => line.includes(`"id":"${id}"`));
      if (text === undefined) continue;
      const body = `{"type":"${type}","code":"${type}_${code}","connection_id":"conn-${connection}","${singular}":${text}}`;
      await post.send(body, delay);
      if (webhook === 'twice') await post.send(body, delay);
    }
  }
}

export interface SourceParts {
  readonly history: History;
  readonly connection: string;
  readonly clock: VirtualClock;
  readonly admin: SandboxAdmin;
  readonly post: Post;
}

/** Of records that are changed at once: the rest are told of by lists alone. */
const mostAnnounced = 4;

const dayMilliseconds = 86_400_000;

/** Subscriptions come in no order that the API promises: what changes while they are read may be missed. */
function isOrdered(resource: ResourceName): boolean {
  return resource !== 'subscriptions';
}

/** Whether the change writes the member that was spoiled. */
function writesAll(what: Change['what'], { resource }: TrueRecord): boolean {
  if (what === 'recreate') return resource === 'subscriptions';
  return what.includes('edit') || what.includes('correct') || what.includes('flip');
}
