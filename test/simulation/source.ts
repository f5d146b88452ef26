import type { CommandInput } from '../../sandbox/world/command.ts';
import { platformNamed, type Platform } from '../../sandbox/world/platforms.ts';
import { resources as served, type ResourceName } from '../../sandbox/world/resources.ts';
import { chanceOf } from '../day/chance.ts';
import { newRecord, patchOf } from '../day/source-records.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import type { Change, History } from './history.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What is true of a record at the source, whoever knows it. Times are the service's, Unix milliseconds. */
export interface TrueRecord {
  readonly resource: ResourceName;
  readonly id: string;
  version: number;
  live: boolean;
  isRefund: boolean;
  /** When its deletion was announced by an event; null when it was not, or lives. */
  announcedAt: number | null;
  /** The last time, whoever knows of it. */
  deletedAt: number | null;
  everDeleted: boolean;
  /** Nobody can store it as it is. */
  spoiled: boolean;
  everSpoiled: boolean;
  /** Something about it that no sync can find out, only a reconcile. */
  hidden: boolean;
}

/** The company's books at the service, and the truth about every record that was ever in them. */
export class Source {
  readonly records = new Map<string, TrueRecord>();
  readonly #parts: SourceParts;
  readonly #platform: Platform;
  readonly #resources: readonly ResourceName[];
  #episode = 0;
  #created = 0;
  /** Webhooks on their way, with the episode in which they arrive. */
  #post: { readonly episode: number; readonly body: string }[] = [];

  constructor(parts: SourceParts) {
    this.#parts = parts;
    this.#platform = platformNamed(parts.history.platform);
    this.#resources = parts.history.resources.filter((resource) => this.#platform.lists.includes(resource));
  }

  /** A platform may lack the rest. */
  get listed(): readonly ResourceName[] {
    return this.#resources;
  }

  now(): number {
    const { clock, history } = this.#parts;
    return clock.now() + history.skewHours * 3_600_000;
  }

  announces(resource: ResourceName): boolean {
    return this.#platform.deletionEvents.includes(resource);
  }

  /** Takes note of what the company begins with. */
  async open(): Promise<void> {
    const { admin, connection } = this.#parts;
    for (const resource of this.#resources) {
      for (const line of await admin.content(connection, resource)) {
        const record = JSON.parse(line) as Record<string, string>;
        const { id = '', last_synced_at: synced, updated_at: updated } = record;
        this.records.set(`${resource}/${id}`, {
          ...{ resource, id, version: Date.parse(synced ?? updated ?? ''), live: true },
          ...{ isRefund: record.expense_type === 'refund', announcedAt: null, deletedAt: null },
          ...{ everDeleted: false, spoiled: false, everSpoiled: false, hidden: false },
        });
      }
    }
  }

  /** The webhooks that arrive with this episode come first. */
  async beginEpisode(): Promise<void> {
    this.#episode += 1;
    const due = this.#post.filter(({ episode }) => episode <= this.#episode);
    this.#post = this.#post.filter(({ episode }) => episode > this.#episode);
    // The last one first: they come in no certain order.
    for (const { body } of due.reverse()) await this.#parts.deliver(body);
  }

  async apply(change: Change): Promise<void> {
    const { clock, admin } = this.#parts;
    const resource = this.#resources[change.which % Math.max(1, this.#resources.length)];
    if (resource === undefined) return;
    if (change.what !== 'correct at the same time') await clock.pass(change.milliseconds);
    const targets = this.#targetsOf(change, resource);
    if (targets.length === 0) return;
    // Two versions of one record in one millisecond could not be told apart, by anybody.
    if (change.what !== 'correct at the same time' && targets.some((record) => this.#changedNow(record)))
      await clock.pass(1);
    const commands = targets.flatMap((record) => this.#commandsOf(change, record));
    const tell = (code: string): Promise<void> =>
      this.#announce(change, targets.slice(0, mostAnnounced), code);
    const isDeletion = change.what.startsWith('delete');
    if (change.what === 'delete' && this.announces(resource)) await tell('DELETED');
    await admin.execute(...commands);
    for (const record of targets) this.#note(change, record);
    if (!isDeletion && change.what !== 'touch')
      await tell(change.what.includes('create') ? 'CREATED' : 'UPDATED');
  }

  #changedNow({ resource, id, version, announcedAt, deletedAt }: TrueRecord): boolean {
    const isNew = !this.records.has(`${resource}/${id}`);
    return !isNew && [version, announcedAt, deletedAt].includes(this.now());
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
    return {
      ...{
        resource,
        id: `r${(this.#created += 1)}`,
        version: this.now() - late,
        live: true,
        isRefund: false,
      },
      ...{ announcedAt: null, deletedAt: null, everDeleted: false, spoiled: false, everSpoiled: false },
      hidden: what === 'create with old times' || (late > 0 && this.#parts.isReading()),
    };
  }

  /** The service may list a record later than others that it has synced after it: that is what the lookback is for. */
  #lateness(): number {
    return this.#parts.history.lookbackSeconds * 900;
  }

  #commandsOf({ what, which }: Change, record: TrueRecord): CommandInput[] {
    const { connection } = this.#parts;
    const { resource, id } = record;
    const target = { connection, resource, id };
    const chance = chanceOf(`${which}/${id}/${record.version}/${this.now()}`);
    const edit = (more: Record<string, string> = {}): CommandInput => ({
      ...{ kind: 'change', ...target, patch: withMembers(patchOf(resource, chance), more) },
    });
    const timed = resource !== 'subscriptions';
    switch (what) {
      case 'create':
      case 'create late':
      case 'create with old times': {
        const text = newRecord(resource, { id, time: record.version, chance });
        record.isRefund = text.includes('"refund"');
        return [{ kind: 'add', connection, resource, record: text, keepLastSyncedAt: what !== 'create' }];
      }
      case 'edit':
      case 'correct at the same time':
        return [edit()];
      case 'edit without a time':
        return [edit(timed ? { updated_at: 'null' } : {})];
      case 'edit with an old time':
        return [edit(timed ? { updated_at: '"2023-01-31T23:59:59.999Z"' } : {})];
      case 'flip the type':
        return [edit({ expense_type: record.isRefund ? '"expense"' : '"refund"' })];
      case 'spoil':
        return [{ kind: 'change', ...target, patch: `{"${notes[resource]}":42}` }];
      case 'touch':
        return [{ kind: 'touch', connection, resource, ids: [id] }];
      case 'delete':
      case 'delete unnoticed':
        return [{ kind: 'delete', ...target, event: what === 'delete' }];
      case 'recreate':
        // A subscription shows no `last_synced_at`: that it lives again is seen by its `updated_at` alone.
        return [{ kind: 'recreate', ...target }, ...(timed ? [] : [edit()])];
    }
  }

  #note({ what }: Change, record: TrueRecord): void {
    this.records.set(`${record.resource}/${record.id}`, record);
    if (what.startsWith('create')) return;
    const now = this.now();
    if (what === 'delete' || what === 'delete unnoticed') {
      const announced = what === 'delete' && this.announces(record.resource);
      const announcedAt = announced ? now : null;
      Object.assign(record, {
        live: false,
        everDeleted: true,
        announcedAt,
        deletedAt: now,
        hidden: !announced,
      });
      return;
    }
    if (what === 'touch' && record.resource === 'subscriptions') return;
    record.version = now;
    record.hidden = what === 'correct at the same time';
    if (what === 'recreate') record.live = true;
    if (what === 'flip the type') record.isRefund = !record.isRefund;
    if (what === 'spoil') record.spoiled = record.everSpoiled = true;
    else if (what.includes('edit') || what.includes('correct') || what.includes('flip'))
      record.spoiled = false;
    if (what === 'recreate' && record.resource === 'subscriptions') record.spoiled = false;
  }

  async #announce({ webhook }: Change, targets: readonly TrueRecord[], code: string): Promise<void> {
    const { admin, connection, deliver } = this.#parts;
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
      if (delay > 0) this.#post.push({ episode: this.#episode + delay, body });
      else await deliver(body);
      if (webhook === 'twice') await deliver(body);
    }
  }
}

/** Of records that are changed at once: the rest are told of by lists alone. */
const mostAnnounced = 4;

export interface SourceParts {
  readonly history: History;
  readonly connection: string;
  readonly clock: VirtualClock;
  readonly admin: SandboxAdmin;
  readonly deliver: (body: string) => Promise<void>;
  /** Whether anybody has read a part of a list: what arrives late behind that place, nobody can know of. */
  readonly isReading: () => boolean;
}

const dayMilliseconds = 86_400_000;

/** A member that every edit writes. */
const notes: Record<ResourceName, string> = {
  ...{ bills: 'memo', expenses: 'memo', bill_credit_memos: 'memo' },
  ...{ customers: 'contact_name', items: 'code', subscriptions: 'platform_customer_id' },
};

/** Values are JSON text. */
function withMembers(patch: string, more: Record<string, string>): string {
  const members = Object.entries(more).map(([name, value]) => `,"${name}":${value}`);
  return `${patch.slice(0, -1)}${members.join('')}}`;
}
