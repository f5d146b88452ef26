import type { ResourceName } from '../../sandbox/api/resources.ts';
import type { Company } from './company.ts';
import type { History } from './history.ts';
import { findEra, nameOf, streamOf, type TrueRecord } from './true-record.ts';

/** A broken promise, described in a sentence. */
export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation';
}

/** Checks the tables after every commit for states that must never exist, not even for a moment. */
export class InvariantChecker {
  readonly #parts: Company;
  readonly #all: readonly Company[];
  /** The last state applied to each record: its version, its era, and whether it was a deletion. */
  readonly #latest = new Map<string, { version: number; era: number; deleted: boolean }>();
  /** Records known to be gone, with the number of changes at their last creation. */
  readonly #knownGone = new Map<string, number>();
  /** The number of landed pages, by pass. */
  readonly #pages = new Map<string, number>();
  /** The attempt whose commit took each lease. */
  readonly #holders = new Map<string, string>();
  readonly #watermarks = new Map<string, number>();
  /** Open entries of quarantine, with the version that they hold. */
  #open = new Map<string, number>();
  /** The state of the tables while the token is another company's; it may not change. */
  #frozen: string | undefined;
  #removals = 0;

  constructor(parts: Company, all: readonly Company[]) {
    this.#parts = parts;
    this.#all = all;
  }

  /** Called when nothing runs, after any change to the installation. */
  async begin(): Promise<void> {
    this.#frozen = undefined;
    this.#forgetLost();
    await this.check();
    if (this.#parts.token === 'foreign') this.#frozen = serializeState(await this.#readState());
  }

  /** `step`: the commit after which it looks. */
  async check(step = ''): Promise<void> {
    const rows = await this.#readState();
    if (this.#parts.token === 'none' || this.#removals !== this.#parts.removals) this.#forget();
    if (this.#frozen !== undefined && serializeState(rows) !== this.#frozen)
      throw new InvariantViolation('Something was written with the token of another company.');
    for (const { what, name } of rows)
      if (what !== 'watermark' && what !== 'pass') this.#judgeOwner(what, name);
    for (const { what, name, at } of rows) if (what === 'pass') this.#judgePass(name, at, step);
    const held = new Map<string, number>();
    const buried = new Map<string, number>();
    for (const { what, name, at } of rows) {
      if (what === 'row') held.set(name, at);
      if (what === 'tombstone') buried.set(name, at);
    }
    for (const [name, version] of held) this.#judgeRow(name, version, buried.get(name));
    for (const seen of rows) if (seen.what === 'tombstone') this.#judgeTombstone(seen);
    for (const { what, name, at } of rows)
      if (what === 'watermark') this.#judgeWatermark(name, at, held, buried);
    this.#judgeOpen(new Map(rows.flatMap(({ what, name, at }) => (what === 'open' ? [[name, at]] : []))));
  }

  async #readState(): Promise<StateRow[]> {
    const { harness, connection, history } = this.#parts;
    const { rows } = await harness.watcher.query<StateRow>({
      name: `look ${history.resources.join()}`,
      text: stateSql(history.resources),
      values: [connection],
    });
    return rows;
  }

  /** Judges that every record under the name of a connection belongs to its company. */
  #judgeOwner(what: string, name: string): void {
    if (this.#parts.source.records.has(name)) return;
    // A record without a name cannot be attributed here.
    if (what === 'open' && this.#hasNameless()) return;
    const owner = this.#all.find(({ source }) => source.records.has(name));
    const where = places[what] ?? what;
    throw new InvariantViolation(
      owner === undefined
        ? `${name} is in ${where}, and never was at the source.`
        : `${name} is in ${where} under the name of another company.`,
    );
  }

  #hasNameless(): boolean {
    return [...this.#parts.source.records.values()].some(({ nameless }) => nameless);
  }

  /** Judges that only the attempt whose commit took the lease lands pages under it, and that no other attempt ever has the same lease. */
  #judgePass(name: string, pages: number, step: string): void {
    const [lease = '', ...pass] = name.split(' ');
    const known = this.#pages.get(pass.join(' ')) ?? 0;
    this.#pages.set(pass.join(' '), pages);
    const [workflow = '', ...activity] = step.split(' ').slice(0, 3);
    const attempt = [workflow, ...activity].join(' ');
    const holder = this.#holders.get(lease) ?? attempt;
    this.#holders.set(lease, holder);
    if (pages <= known || !workflow.endsWith(`/${this.#parts.connection}`)) return;
    if (holder !== attempt)
      throw new InvariantViolation(
        `A page of ${pass.slice(0, 2).join(' ')} was landed by an attempt that another one had replaced.`,
      );
  }

  #judgeRow(name: string, version: number, tombstone: number | undefined): void {
    const record = this.#parts.source.records.get(name);
    if (record === undefined) return;
    const era = findEra(record, version);
    const latest = this.#latest.get(name);
    // A version that went back at the source may go back here, but only into a later era.
    if (latest !== undefined && era <= latest.era && !this.#mayGoBack(record, latest)) {
      if (version < latest.version)
        throw new InvariantViolation(
          `An older version replaced a newer one: ${name} went ${Math.round(latest.version - version)} ms back.`,
        );
      if (latest.deleted && version === latest.version)
        throw new InvariantViolation(`${name} lives again with the version that was deleted.`);
    }
    if (tombstone !== undefined && tombstone >= version)
      throw new InvariantViolation(`${name} is in finance, and its tombstone is not older.`);
    const isGone = this.#knownGone.get(name) === record.createdAtChange && !record.live;
    if (isGone && !this.#parts.environment.laggedTooFar(record))
      throw new InvariantViolation(`${name} is gone, which was known here, and a late page brought it back.`);
    this.#knownGone.delete(name);
    this.#latest.set(name, { version, era, deleted: false });
  }

  /** Whether a list that showed the past cannot be told from a corrected one, because the resource has no fetch. */
  #showedThePast({ resource }: TrueRecord): boolean {
    return resource === 'subscriptions' && this.#parts.environment.maxListLagEver > 0;
  }

  /**
   * Whether the version may go back. A list that lags by no more than it may takes no version back. If it lagged by more, a live record may
   * count as deleted.
   */
  #mayGoBack(record: TrueRecord, { deleted }: { deleted: boolean }): boolean {
    const laggedTooFar = this.#parts.environment.laggedTooFar(record);
    return deleted
      ? laggedTooFar || this.#showedThePast(record)
      : laggedTooFar && this.#showedThePast(record);
  }

  #judgeTombstone({ name, at: version, run, source: by }: StateRow): void {
    const { source, changesBefore } = this.#parts;
    const record = source.records.get(name);
    if (
      record === undefined ||
      (!record.everDeleted && !this.#showedThePast(record) && !this.#parts.environment.laggedTooFar(record))
    )
      throw new InvariantViolation(`${name} has a tombstone, and was never deleted at the source.`);
    const latest = this.#latest.get(name);
    if (latest === undefined || version >= latest.version || !latest.deleted)
      // A tombstone may be as late as the second in which the deletion was found. A record that lives again in that second is newer all the
      // same.
      this.#latest.set(name, {
        version: Math.min(version, record.deletedAt ?? version),
        era: record.deletionEra,
        deleted: true,
      });
    if (
      version >
      Math.max(source.now(), record.highest, this.#parts.environment.latestTimeBeforeSetback) + 1_000
    )
      throw new InvariantViolation(`${name} has a tombstone of the future.`);
    // A run that began after the record was last created asked when the record was gone. Nobody could exceed a version in the future.
    const before = changesBefore.get((run ?? '').split('-').slice(0, 3).join('-'));
    const isAfterLastCreation = before !== undefined && record.createdAtChange <= before;
    const { deletedAt, announcedAt, live, highest } = record;
    const isLast = isAfterLastCreation && (announcedAt === deletedAt || announcedAt === null);
    // A run may also read the event of an earlier deletion. As far as anybody here knows, a newer record lives.
    const coversAll = version >= highest || (by === 'reconcile' && this.#knowsTheTime());
    if (!live && isLast && deletedAt !== null && highest <= deletedAt && coversAll)
      this.#knownGone.set(name, record.createdAtChange);
  }

  /** Whether a reconcile knows since when a record is gone: the service tells its time, and never set its clock back. */
  #knowsTheTime(): boolean {
    const { history, environment } = this.#parts;
    return history.dateless !== true && environment.latestTimeBeforeSetback === -Infinity;
  }

  /** Judges that everything older than the watermark less the lookback is here, because the next pass begins there. */
  #judgeWatermark(
    stream: string,
    watermark: number,
    held: ReadonlyMap<string, number>,
    buried: ReadonlyMap<string, number>,
  ): void {
    const { source, history, passBeganAt, lastServedAt } = this.#parts;
    const records = [...source.records.values()];
    const before = this.#watermarks.get(stream);
    this.#watermarks.set(stream, watermark);
    if (before === watermark) return;
    const start = passBeganAt.get(stream);
    // If the service does not tell its time, nobody knows its time when the pass began.
    if (start !== undefined && watermark > start && history.dateless !== true)
      throw new InvariantViolation(
        `The watermark of ${stream} is ${Math.round(watermark - start)} ms past the time at which its pass began.`,
      );
    const floor = watermark - history.lookbackSeconds * 1000;
    if (stream === 'events') {
      for (const { resource, id, announcedAt, behindWatermark, highest } of records) {
        const version = held.get(`${resource}/${id}`);
        if (announcedAt === null || behindWatermark || highest > announcedAt) continue;
        if (announcedAt < floor && version !== undefined && version <= announcedAt)
          throw new InvariantViolation(
            `The watermark of events is past the deletion of ${resource}/${id}, which is in finance.`,
          );
      }
      return;
    }
    if (watermark > source.newest)
      throw new InvariantViolation(
        `The watermark of ${stream} is ${Math.round(watermark - source.newest)} ms past the newest version there is.`,
      );
    for (const record of records) {
      const { version, live, hidden, behindWatermark, spoiled, inRepeatedTime, changedAt } = record;
      if (streamOf(record) !== stream || !live || hidden || behindWatermark || spoiled) continue;
      // The service may set its clock back by so much unnoticed; each pass begins that much earlier.
      if (version >= floor - (inRepeatedTime ? unnoticedClockErrorMilliseconds(history) : 0)) continue;
      // No page has shown that the clock was set back. The next pass finds out, and begins that much further back. See judgeRun.
      if (inRepeatedTime && changedAt >= (lastServedAt.get(stream) ?? -Infinity)) continue;
      const name = nameOf(record);
      if ((held.get(name) ?? buried.get(name) ?? -1) < version)
        throw new InvariantViolation(`The watermark of ${stream} is past ${name}, which no pass has seen.`);
    }
  }

  /** Judges that entries of quarantine stay open while the source has the same version. */
  #judgeOpen(open: Map<string, number>): void {
    const { source } = this.#parts;
    for (const [name, version] of this.#open) {
      const record = source.records.get(name);
      if (open.has(name) || record === undefined || record.nameless || record.discarded !== 'no') continue;
      // Two reconciles in a row that are shown the past may overrule an entry, as they may take a row back.
      if (this.#mayGoBack(record, { deleted: false })) continue;
      // A list that lags may show the good version of a clock that was ahead. Nobody can tell that it is the older one.
      if (this.#parts.environment.maxListLag > 0 && record.highest > version) continue;
      if (record.live && record.spoiled && record.version === version)
        throw new InvariantViolation(
          `${name} cannot be stored, and what waited in quarantine of it was closed.`,
        );
    }
    this.#open = open;
  }

  /** Forgets the live versions after a person deleted all rows: nothing here knows them any more, and history does not know every version. */
  #forgetLost(): void {
    if (!this.#parts.rowsLost) return;
    this.#parts.rowsLost = false;
    for (const [name, { deleted }] of this.#latest) if (!deleted) this.#latest.delete(name);
  }

  /** Forgets what was removed with the connection. */
  #forget(): void {
    this.#removals = this.#parts.removals;
    this.#open.clear();
    this.#watermarks.clear();
  }
}

/** The largest difference between the servers of a service, plus a second for a `Date` in whole seconds; milliseconds. */
function unnoticedClockErrorMilliseconds({ lookbackSeconds }: History): number {
  return Math.min(lookbackSeconds * 1000, 60_000) + 1_000;
}

/** The state that must not change: rows, tombstones, and open entries of quarantine. */
function serializeState(rows: readonly StateRow[]): string {
  return rows
    .filter(({ what }) => ['row', 'tombstone', 'open', 'version'].includes(what))
    .map(({ what, name, at }) => `${what} ${name} ${at}`)
    .sort()
    .join('\n');
}

const places: Record<string, string> = {
  row: 'finance',
  tombstone: 'the tombstones',
  open: 'quarantine',
  version: 'history',
  discrepancy: 'the discrepancies',
};

interface StateRow {
  what: 'row' | 'tombstone' | 'watermark' | 'pass' | 'open' | 'version' | 'discrepancy';
  name: string;
  at: number;
  run: string | null;
  /** The source that reported the deletion, for a tombstone. */
  source: string | null;
}

function stateSql(resources: readonly ResourceName[]): string {
  const milliseconds = (time: string): string => `(extract(epoch from ${time}) * 1000)::float8`;
  const timeIn = (member: string): string =>
    `substring(payload from '"${member}"\\s*:\\s*"([^"]+)"')::timestamptz`;
  return [
    ...resources.map(
      (resource) =>
        `select 'row' as what, '${resource}/' || id as name,
           ${milliseconds(resource === 'subscriptions' ? 'updated_at' : 'last_synced_at')} as at, null as run, null as source
         from finance.${resource} where connection_id = $1`,
    ),
    `select 'tombstone', resource || '/' || record_id, ${milliseconds('version')}, run_id, source
     from sync.tombstones where connection_id = $1`,
    `select 'watermark', stream, ${milliseconds('watermark')}, null, null from sync.streams
     where connection_id = $1 and watermark is not null`,
    `select 'pass', concat_ws(' ', lease, kind, stream, part, run_id, listing), pages::float8, null, null
     from sync.passes where connection_id = $1`,
    `select 'open', resource || '/' || record_id, ${milliseconds(`case when resource = 'subscriptions' then ${timeIn('updated_at')} else ${timeIn('last_synced_at')} end`)}, null, null
     from sync.quarantine where connection_id = $1 and status = 'open' and stream <> 'events' and record_id is not null`,
    `select 'version', resource || '/' || record_id, count(*)::float8, null, null
     from history.record_versions where connection_id = $1 group by resource, record_id`,
    `select distinct 'discrepancy', resource || '/' || record_id, 0::float8, null, null
     from sync.discrepancies where connection_id = $1`,
  ].join(' union all ');
}
