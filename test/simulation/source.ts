import { platformNamed, type Platform } from '../../sandbox/api/platforms.ts';
import { resources as served, type ResourceName } from '../../sandbox/api/resources.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { buildCommands } from './build-commands.ts';
import type { Change, History } from './history.ts';
import type { WebhookDelivery } from './webhook-delivery.ts';
import type { Environment } from './environment.ts';
import { heldId, nameOf, parseRecordName, trueRecord, type TrueRecord } from './true-record.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The company's books at the service, and the truth about every record that was ever in them. */
export class Source {
  readonly records = new Map<string, TrueRecord>();
  /** Contents of records without an id that a person has discarded. `unsure` has the meaning of `TrueRecord.discarded`. */
  readonly discardedContents = new Map<string, 'yes' | 'unsure'>();
  /** The resources that the platform has. */
  readonly listed: readonly ResourceName[];
  /** The number of changes so far, to compare what came before what. */
  changes = 0;
  /** The newest version that any record here has ever had. */
  newest = -Infinity;
  readonly #parts: SourceParts;
  readonly #platform: Platform;
  #created = 0;

  constructor(parts: SourceParts) {
    this.#parts = parts;
    this.#platform = platformNamed(parts.history.platform);
    this.listed = parts.history.resources.filter((resource) => this.#platform.lists.includes(resource));
    parts.environment.onClockSetForward(() => {
      for (const record of this.records.values()) if (record.inRepeatedTime) record.behindWatermark = true;
    });
  }

  /** The service's time, Unix milliseconds. */
  now(): number {
    return this.#parts.environment.serviceNow();
  }

  /** Records the initial content of the company's books. */
  async open(): Promise<void> {
    const { admin, connection } = this.#parts;
    for (const resource of this.listed) {
      for (const line of await admin.content(connection, resource)) {
        const record = JSON.parse(line) as Record<string, string>;
        const { id = '', last_synced_at: synced, updated_at: updated } = record;
        const version = Date.parse(synced ?? updated ?? '');
        const isRefund = record.expense_type === 'refund';
        this.records.set(nameOf({ resource, id }), trueRecord({ resource, id, version, isRefund }));
        this.newest = Math.max(this.newest, version);
      }
    }
  }

  async apply(change: Change): Promise<void> {
    const { clock, admin, connection } = this.#parts;
    const resource = this.#chooseResource(change);
    if (resource === undefined) return;
    const isNew = change.what !== 'correct at the same time';
    if (isNew) await clock.pass(change.milliseconds);
    const targets = this.#chooseTargets(change, resource);
    if (targets.length === 0) return;
    // Nobody could tell apart two versions of one record in one millisecond.
    if (isNew && targets.some((record) => this.#changedNow(record))) await clock.pass(1);
    const versions = targets.map((record) => this.#versionAfter(change, record));
    const commands = targets.flatMap((record, place) =>
      buildCommands(change, record, { connection, now: this.now(), version: versions[place] ?? 0 }),
    );
    const announceChange = (code: string): Promise<void> =>
      this.#announce(change, targets.slice(0, mostAnnounced), code);
    if (change.what === 'delete' && this.#announces(resource)) await announceChange('DELETED');
    const results = await admin.execute(...commands);
    this.changes += 1;
    for (const [place, record] of targets.entries()) {
      // The sandbox gives an id to a record that was created without one.
      const named =
        change.what === 'create without an id' ? { ...record, sourceId: results[place]?.id ?? '' } : record;
      this.#note(change, named, versions[place] ?? 0);
    }
    if (!change.what.startsWith('delete') && change.what !== 'touch')
      await announceChange(change.what.includes('create') ? 'CREATED' : 'UPDATED');
  }

  #chooseResource({ what, which }: Change): ResourceName | undefined {
    const listed = onlySubscriptions.has(what)
      ? this.listed.filter((resource) => resource === 'subscriptions')
      : this.listed;
    return listed[which % Math.max(1, listed.length)];
  }

  #announces(resource: ResourceName): boolean {
    return this.#platform.deletionEvents.includes(resource);
  }

  #changedNow(record: TrueRecord): boolean {
    const { version, announcedAt, deletedAt } = record;
    return this.records.has(nameOf(record)) && [version, announcedAt, deletedAt].includes(this.now());
  }

  #chooseTargets({ what, which, count: mostWanted }: Change, resource: ResourceName): TrueRecord[] {
    // A list of very many pages costs time and shows nothing more.
    const count = Math.min(mostWanted, this.#parts.history.pageSize * 10);
    if (what.startsWith('create'))
      return Array.from({ length: what.includes(' id') ? Math.min(count, 3) : count }, (_, place) =>
        this.#create(resource, what, which + place),
      );
    const wanted = [...this.records.values()].filter(
      (one) => one.resource === resource && one.live !== what.startsWith('recreate'),
    );
    if (what === 'flip the type' && resource !== 'expenses') return [];
    if (what === 'correct at the same time')
      return wanted.filter(({ version, nameless }) => version === this.now() && !nameless).slice(0, 1);
    const able = wanted.filter(({ nameless }) => !nameless || onNameless.has(what));
    const start = able.length === 0 ? 0 : which % able.length;
    return [...able.slice(start), ...able.slice(0, start)].slice(0, count);
  }

  #create(resource: ResourceName, what: Change['what'], which: number): TrueRecord {
    const { place } = this.#parts;
    const plain = `${place === 0 ? '' : `${'abc'[place] ?? ''}-`}r${(this.#created += 1)}`;
    const odd = oddIds[which % oddIds.length] ?? '';
    const sourceId = what === 'create with an odd id' ? odd.replace('#', plain) : plain;
    const nameless = what === 'create without an id' || /\p{Surrogate}/u.test(sourceId);
    return {
      ...trueRecord({ resource, id: heldId(sourceId), version: this.#versionAtCreation(what), nameless }),
      sourceId,
      spoiled: nameless || what === 'create spoiled',
    };
  }

  #versionAtCreation(what: Change['what']): number {
    const { environment, history } = this.#parts;
    if (what === 'create in the future') return this.now() + 2 * hourMilliseconds;
    if (what === 'create with old times') return this.now() - 40 * dayMilliseconds;
    // The service may list a record after others that it has synced later; the lookback exists for that.
    if (what === 'create late')
      return this.now() - Math.max(0, history.lookbackSeconds * 1000 - environment.listLag);
    return this.now();
  }

  /** The version of the record after the change. */
  #versionAfter({ what }: Change, record: TrueRecord): number {
    if (what.startsWith('create')) return record.version;
    const isTimed = record.resource !== 'subscriptions';
    if (!isTimed && ['touch', 'recreate as it was'].includes(what)) return record.version;
    if (!isTimed && what === 'edit in the future') return this.now() + 2 * hourMilliseconds;
    if (what === 'turn back') return Math.min(record.version, this.now()) - hourMilliseconds - 1;
    return this.now();
  }

  #note({ what }: Change, record: TrueRecord, version: number): void {
    const { environment, clock, history } = this.#parts;
    this.records.set(nameOf(record), record);
    const now = this.now();
    record.changedAt = clock.now();
    // Only a reconcile sees a record that the service dates back, or shows later than it may.
    const isLate =
      environment.listLag > history.lookbackSeconds * 1000 && record.resource === 'subscriptions';
    // A sync detects through Postgres's clock that the service's clock was set back. A record held in a newer version is for a reconcile to
    // judge.
    const isUnnoticed = environment.databaseJumps.length > 0 || record.highest > now;
    record.inRepeatedTime = now <= environment.latestTimeBeforeSetback;
    record.behindWatermark = (record.inRepeatedTime && isUnnoticed) || isLate;
    if (what.startsWith('create')) {
      record.createdAtChange = this.changes;
      record.createdAt = now;
      record.backdatedBy = Math.max(0, now - version);
      record.hidden = what === 'create with old times';
      this.newest = Math.max(this.newest, version);
      return;
    }
    if (what === 'delete' || what === 'delete unnoticed') {
      const announced = what === 'delete' && this.#announces(record.resource) && !record.nameless;
      const isOlder = now <= record.highest;
      Object.assign(record, {
        live: false,
        everDeleted: true,
        deletedAt: now,
        hidden: !announced || isOlder,
      });
      Object.assign(record, {
        deletionEra: record.era,
        highest: Math.max(record.highest, now),
        discarded: record.discarded === 'no' ? 'no' : 'unsure',
      });
      record.announcedAt = announced ? now : null;
      return;
    }
    if (what === 'touch' && record.resource === 'subscriptions') return;
    const isBack = version <= record.highest;
    if (isBack) record.era += 1;
    record.version = version;
    record.eras.set(version, record.era);
    record.backdatedBy = Math.max(record.backdatedBy, record.createdAt - version);
    record.sameContent = new Set([...(what === 'touch' ? record.sameContent : []), version]);
    record.highest = Math.max(record.highest, version);
    this.newest = Math.max(this.newest, version);
    record.hidden = isBack;
    if (what.startsWith('recreate')) {
      Object.assign(record, { live: true, createdAtChange: this.changes, createdAt: now });
      record.discarded = record.discarded === 'no' ? 'no' : 'unsure';
    }
    if (what === 'flip the type') record.isRefund = !record.isRefund;
    // A record that is recreated and spoiled again may be just what was discarded.
    const mayBeAsItWas = what === 'spoil' && record.discarded === 'unsure';
    if (what !== 'touch' && !what.startsWith('recreate') && !mayBeAsItWas) record.discarded = 'no';
    if (what === 'spoil') record.spoiled = true;
    else if (writesSpoiledMember(what, record)) record.spoiled = record.nameless;
  }

  async #announce({ webhook }: Change, targets: readonly TrueRecord[], code: string): Promise<void> {
    const { admin, connection, webhookDelivery } = this.#parts;
    const [first] = targets;
    if (first === undefined || webhook === 'lost') return;
    const { webhookType: type, singular } = served[first.resource];
    if (type === null) return;
    const lines = await admin.content(connection, first.resource);
    const delay = webhook === 'next episode' ? 1 : webhook === 'two episodes later' ? 2 : 0;
    for (const { id, nameless } of targets) {
      if (nameless) continue;
      const text = lines.find(
        (line) => parseRecordName(first.resource, line) === nameOf({ resource: first.resource, id }),
      );
      if (text === undefined) continue;
      const body = `{"type":"${type}","code":"${type}_${code}","connection_id":"conn-${connection}","${singular}":${text}}`;
      await webhookDelivery.send(body, delay);
      if (webhook === 'twice') await webhookDelivery.send(body, delay);
    }
  }
}

export interface SourceParts {
  readonly history: History;
  readonly connection: string;
  readonly clock: VirtualClock;
  readonly admin: SandboxAdmin;
  readonly webhookDelivery: WebhookDelivery;
  readonly environment: Environment;
  /** The index of the company, from 0. */
  readonly place: number;
}

/** The most of the records changed at once that are announced. Only lists show the others. */
const mostAnnounced = 4;

const hourMilliseconds = 3_600_000;
const dayMilliseconds = 24 * hourMilliseconds;

const onlySubscriptions: ReadonlySet<string> = new Set(['recreate as it was', 'edit in the future']);

/** The changes possible for a record whose id cannot be stored. */
const onNameless: ReadonlySet<string> = new Set(['touch', 'delete', 'delete unnoticed']);

/** `#` is replaced by a part that makes the ids unique. */
const oddIds = [
  ...['#"', '#\\', '#/../x?y=1&z', '# %00', '#\0#', "'; drop table #", '{"#":1}', '#\u202E\u{1F600}', ' # '],
  ...['#\uD800', '\uDC00#', '#\uFFFF', `#${'x'.repeat(900)}`, '#%2F', '[#]', '#,null', '$#$'],
];

/** Whether the change writes the member that was spoiled. */
function writesSpoiledMember(what: Change['what'], { resource }: TrueRecord): boolean {
  if (what === 'recreate') return resource === 'subscriptions';
  return ['edit', 'correct', 'flip', 'write', 'turn'].some((word) => what.includes(word));
}
