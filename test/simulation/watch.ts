import type { ResourceName } from '../../sandbox/world/resources.ts';
import type { Company } from './play-run.ts';
import { nameOf, streamOf } from './true-record.ts';

/** A promise that was broken, in a sentence. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

/** Looks at the tables after every commit: what must never be, not even for a moment. */
export class Watch {
  readonly #parts: Watched;
  /** Of every record, the highest version that was ever applied, and whether that was a deletion. */
  readonly #highest = new Map<string, { version: number; deleted: boolean }>();

  /** Of every pass, the pages that were landed. */
  readonly #pages = new Map<string, number>();

  constructor(parts: Watched) {
    this.#parts = parts;
  }

  /** `step`: the commit after which it looks. */
  async look(step = ''): Promise<void> {
    const { stage, connection, history } = this.#parts;
    const { rows } = await stage.watcher.query<Seen>({
      name: `look ${history.resources.join()}`,
      text: lookSql(history.resources),
      values: [connection],
    });
    for (const { what, name, at } of rows) if (what === 'pass') this.#judgePass(name, at, step);
    const held = new Map<string, number>();
    const buried = new Map<string, number>();
    for (const { what, name, at } of rows) {
      if (what === 'row') held.set(name, at);
      if (what === 'tombstone') buried.set(name, at);
    }
    for (const [name, version] of held) this.#judgeRow(name, version, buried.get(name));
    for (const [name, version] of buried) this.#judgeTombstone(name, version);
    for (const { what, name, at } of rows)
      if (what === 'watermark') this.#judgeWatermark(name, at, held, buried);
  }

  /** Its lease is the name of the attempt that may land its pages. */
  #judgePass(name: string, pages: number, step: string): void {
    const [lease = '', ...pass] = name.split(' ');
    const known = this.#pages.get(pass.join(' ')) ?? 0;
    this.#pages.set(pass.join(' '), pages);
    if (pages <= known || step === '') return;
    const [, activity = '', attempt = ''] = step.split(' ');
    if (!lease.endsWith(`/${Number(activity)}/${attempt}`))
      throw new BrokenPromise(
        `A page of ${pass.slice(0, 2).join(' ')} was landed by an attempt that another one had replaced.`,
      );
  }

  #judgeRow(name: string, version: number, tombstone: number | undefined): void {
    if (!this.#parts.source.records.has(name))
      throw new BrokenPromise(`${name} is in finance, and never was at the source.`);
    const highest = this.#highest.get(name);
    if (highest !== undefined && version < highest.version)
      throw new BrokenPromise(
        `An older version replaced a newer one: ${name} went ${Math.round(highest.version - version)} ms back.`,
      );
    if (highest?.deleted === true && version === highest.version)
      throw new BrokenPromise(`${name} lives again with the version that was deleted.`);
    if (tombstone !== undefined && tombstone >= version)
      throw new BrokenPromise(`${name} is in finance, and its tombstone is not older.`);
    this.#highest.set(name, { version, deleted: false });
  }

  #judgeTombstone(name: string, version: number): void {
    const { source } = this.#parts;
    if (source.records.get(name)?.everDeleted !== true)
      throw new BrokenPromise(`${name} has a tombstone, and was never deleted at the source.`);
    const highest = this.#highest.get(name);
    if (highest === undefined || version >= highest.version)
      this.#highest.set(name, { version, deleted: true });
  }

  /** The next pass begins at the watermark less the lookback: what is older must be here. */
  #judgeWatermark(
    stream: string,
    watermark: number,
    held: ReadonlyMap<string, number>,
    buried: ReadonlyMap<string, number>,
  ): void {
    const { source, history } = this.#parts;
    const records = [...source.records.values()];
    if (stream === 'events') {
      const floor = watermark - history.lookbackSeconds * 1000;
      for (const { resource, id, announcedAt } of records) {
        const version = held.get(`${resource}/${id}`);
        if (announcedAt !== null && announcedAt < floor && version !== undefined && version <= announcedAt)
          throw new BrokenPromise(
            `The watermark of events is past the deletion of ${resource}/${id}, which is in finance.`,
          );
      }
      return;
    }
    // Subscriptions come in no order, so a reading that was interrupted may have passed what changed meanwhile.
    const listed = records.filter((one) => streamOf(one) === stream && one.resource !== 'subscriptions');
    const newest = Math.max(...records.map(({ version }) => version));
    if (watermark > newest)
      throw new BrokenPromise(
        `The watermark of ${stream} is ${Math.round(watermark - newest)} ms past the newest version there is.`,
      );
    for (const record of listed) {
      const { version, live, hidden, spoiled } = record;
      if (!live || hidden || spoiled || version >= watermark - history.lookbackSeconds * 1000) continue;
      const name = nameOf(record);
      if ((held.get(name) ?? buried.get(name) ?? -1) < version)
        throw new BrokenPromise(`The watermark of ${stream} is past ${name}, which no pass has seen.`);
    }
  }
}

type Watched = Pick<Company, 'stage' | 'history' | 'connection' | 'source'>;

interface Seen {
  what: 'row' | 'tombstone' | 'watermark' | 'pass';
  name: string;
  at: number;
}

function lookSql(resources: readonly ResourceName[]): string {
  const milliseconds = (time: string): string => `(extract(epoch from ${time}) * 1000)::float8`;
  return [
    ...resources.map(
      (resource) =>
        `select 'row' as what, '${resource}/' || id as name,
           ${milliseconds(resource === 'subscriptions' ? 'updated_at' : 'last_synced_at')} as at
         from finance.${resource} where connection_id = $1`,
    ),
    `select 'tombstone', resource || '/' || record_id, ${milliseconds('version')} from sync.tombstones where connection_id = $1`,
    `select 'watermark', stream, ${milliseconds('watermark')} from sync.streams
     where connection_id = $1 and watermark is not null`,
    `select 'pass', concat_ws(' ', lease, kind, stream, part, run_id, listing), pages::float8
     from sync.passes where connection_id = $1`,
  ].join(' union all ');
}
