import type { ResourceName } from '../../sandbox/api/resources.ts';
import { parseExactly } from '../support/exact-json.ts';
import { canonicalJson, isObject } from '../support/source-value.ts';
import type { Company } from './company.ts';
import { nameOf, parseRecordName, type TrueRecord } from './true-record.ts';
import { InvariantViolation } from './invariant-checker.ts';

/** Judges that the quarantine holds exactly the records that cannot be stored, as the source has them, among those for which `known` is true. */
export async function judgeQuarantine(
  { harness, connection, source }: Pick<Company, 'harness' | 'connection' | 'source'>,
  known: (record: TrueRecord) => boolean,
): Promise<void> {
  const { rows } = await harness.watcher.query<{ resource: string; name: string | null; payload: string }>(
    `select resource, resource || '/' || record_id as name, payload from sync.quarantine
     where connection_id = $1 and status = 'open' and stream <> 'events'`,
    [connection],
  );
  const isNamed = ({ name }: { name: string | null }): boolean =>
    name !== null && source.records.get(name) !== undefined;
  const waiting = new Map(
    rows.filter(isNamed).map(({ name, payload }) => [name ?? '', canonicalContent(payload)]),
  );
  const nameless = rows.filter((row) => !isNamed(row)).map(({ payload }) => contentWithoutVersion(payload));
  const texts = new Map<string, string>();
  const unnamed: string[] = [];
  for (const resource of source.listed)
    for (const line of await harness.admin.content(connection, resource)) {
      const name = parseRecordName(resource, line);
      if (name !== undefined && source.records.get(name)?.nameless !== true)
        texts.set(name, canonicalContent(line));
      else unnamed.push(contentWithoutVersion(line));
    }
  judgeNameless(nameless, { unnamed, source, known });
  for (const [name, record] of source.records) {
    if (!known(record) || record.nameless || record.discarded === 'unsure') continue;
    const wanted = record.live && record.spoiled && record.discarded === 'no' ? texts.get(name) : undefined;
    if (wanted === waiting.get(name)) continue;
    if (wanted === undefined && record.discarded === 'yes')
      throw new InvariantViolation(
        `${name} was discarded by a person, has not changed, and waits in quarantine again.`,
      );
    throw new InvariantViolation(
      wanted === undefined
        ? `${name} waits in quarantine, and is ${record.live ? 'fine' : 'gone'}.`
        : `${name} cannot be stored, and does not wait in quarantine as it is.`,
    );
  }
}

/**
 * Judges, at any time, with troubles or without, that a record which only its list can show (one without a name, or a subscription, which
 * cannot be fetched) waits as long as the source has it unchanged. A nameless record waits once, however often it was seen.
 */
export async function judgeListOnlyEntries(company: Company): Promise<void> {
  const { harness, connection, source } = company;
  const isListOnly = ({ nameless, spoiled, resource }: TrueRecord): boolean =>
    nameless || (spoiled && resource === 'subscriptions');
  if (![...source.records.values()].some(isListOnly)) return;
  const { rows } = await harness.watcher.query<{
    resource: ResourceName;
    id: string | null;
    payload: string;
  }>(
    `select resource, record_id as id, payload from sync.quarantine
     where connection_id = $1 and status = 'open' and (record_id is null or resource = 'subscriptions') and stream <> 'events'`,
    [connection],
  );
  const open = rows.map(({ payload, ...row }) => ({ ...row, content: contentWithoutVersion(payload) }));
  const nameless = open.filter(({ id }) => id === null).map(({ content }) => content);
  if (new Set(nameless).size < nameless.length)
    throw new InvariantViolation('A record without an id waits in quarantine more than once.');
  const before = company.waiting;
  company.waiting = { open, removals: company.removals };
  if (before.removals !== company.removals || wasAnyClockCorrected(company)) return;
  const contents = open.map(({ content }) => content);
  const closed = before.open.filter((one) => !contents.includes(one.content) && !mayBeClosed(company, one));
  for (const resource of new Set(closed.map((one) => one.resource))) {
    // If a list lags by more than it may, nobody can say how old a record is that it does not show.
    if (company.environment.laggedTooFar({ resource, backdatedBy: 0 })) continue;
    for (const line of await harness.admin.content(connection, resource)) {
      const one = closed.find(({ content }) => content === contentWithoutVersion(line));
      if (one !== undefined)
        throw new InvariantViolation(
          `${one.id === null ? 'A record without an id' : nameOf({ resource, id: one.id })} waits in quarantine no more, and the source has it.`,
        );
    }
  }
}

/** Whether a person has discarded the record, or it was gone in between and may be back as it was. */
function mayBeClosed(
  { source }: Company,
  { resource, id, content }: Company['waiting']['open'][number],
): boolean {
  if (source.discardedContents.has(content)) return true;
  const record = id === null ? undefined : source.records.get(nameOf({ resource, id }));
  return record !== undefined && (record.everDeleted || record.discarded !== 'no' || record.backdatedBy > 0);
}

function wasAnyClockCorrected({ environment }: Company): boolean {
  return environment.latestTimeBeforeSetback > -Infinity || environment.databaseJumps.length > 0;
}

/** Judges nameless records by their content: one entry each, as long as the source has them and nobody discards them. */
function judgeNameless(
  waiting: readonly string[],
  {
    unnamed,
    source,
    known,
  }: { unnamed: readonly string[]; source: Company['source']; known: (record: TrueRecord) => boolean },
): void {
  const records = [...source.records.values()].filter((record) => record.nameless);
  if (new Set(waiting).size < waiting.length)
    throw new InvariantViolation('A record without an id waits in quarantine more than once.');
  const isGone = waiting.find((content) => !unnamed.includes(content));
  if (isGone !== undefined && records.every(known))
    throw new InvariantViolation(
      'A record without an id waits in quarantine, and the source does not have it.',
    );
  if (waiting.some((content) => source.discardedContents.get(content) === 'yes'))
    throw new InvariantViolation(
      'A record without an id was discarded by a person, has not changed, and waits in quarantine again.',
    );
  const isMissing = unnamed.find(
    (content) => !waiting.includes(content) && !source.discardedContents.has(content),
  );
  if (isMissing !== undefined && records.every((record) => !record.live || known(record)))
    throw new InvariantViolation('A record without an id does not wait in quarantine.');
}

function canonicalContent(text: string): string {
  return canonicalJson(withoutPlatformData(parseExactly(text)));
}

/** A record without what only an expanded list brings. */
function withoutPlatformData(record: unknown): unknown {
  if (!isObject(record)) return record;
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== 'platform_data'));
}

/** The content of a record as a person sees it, without the time at which the service last looked at it. */
export function contentWithoutVersion(text: string): string {
  const record = withoutPlatformData(parseExactly(text));
  if (!isObject(record)) return text;
  const { last_synced_at: version, ...content } = record;
  return canonicalJson(typeof version === 'string' ? content : record);
}
