import { isAscii } from 'node:buffer';
import { isObject } from '../resources/is-object.ts';
import { recordParsedLater, type FindHeld, type SourceRecord } from '../resources/source-record.ts';
import type { AnswerLimits } from './answer-limits.ts';
import { cutPage, type CutPage } from './cut-page.ts';
import { AnswerTooLarge, RecordGone, UnreadableResponse, type Failure } from './errors.ts';
import { memberText } from './member-text.ts';
import { charactersOf, decoded, decodeBody, type Body } from './read-body.ts';
import { replaceNul } from './replace-nul.ts';
import type { Answer } from './send-request.ts';
import { withoutTokensWithin } from './tokens-within.ts';
import { longEnough, withoutSecrets } from '../errors/without-secrets.ts';
import { withoutTokens } from './without-tokens.ts';

/** One page of a list (API document 4.1, 4.8). */
export interface ListPage {
  readonly records: readonly SourceRecord[];
  /** The company for which the service answered; null if it does not say (subscriptions may, events do not). */
  readonly connection: ServiceConnection | null;
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** The service's time of the response, in whole seconds; null if it sent none. */
  readonly servedAt: Date | null;
  /** The arrival of its headers, by the clock of this process. */
  readonly receivedAt: Date;
  readonly requestId: string | null;
}

export interface FetchedRecord {
  readonly record: SourceRecord;
  readonly connection: ServiceConnection | null;
  readonly servedAt: Date | null;
  readonly requestId: string | null;
}

/** API document 2.1. */
export interface ServiceConnection {
  readonly id: string;
  readonly orgId: string;
  /** Null if the service omits it. */
  readonly platform: string | null;
}

/**
 * Parses a list response. Throws UnreadableResponse if it is not a list of `plural`, AnswerTooLarge if it has more records than allowed. Texts
 * that `findHeld` finds were valid JSON before.
 */
export async function parseListPage(
  { body, servedAt, receivedAt, requestId, secrets, failure }: Answer,
  plural: string,
  { limits, findHeld = findNone }: { limits: AnswerLimits; findHeld?: FindHeld | undefined },
): Promise<ListPage> {
  const { outline, records: cut } = cutBody(replaceNul(charactersOf(body, failure)), plural);
  const members = parseObject(outline, failure);
  const values = members[plural];
  if (!Array.isArray(values) || values.length !== cut.length)
    throw new UnreadableResponse(failure, `JSON without an array "${plural}"`);
  if (cut.length > limits.records) {
    const most = limits.records.toLocaleString('en-US');
    throw new AnswerTooLarge(failure, `more than ${most} records in one page`);
  }
  // Most pages are ASCII, which is quick to check, and need no decoding.
  const texts = isAscii(body.bytes) ? cut : cut.map(decoded);
  const held = await findHeld(texts);
  return {
    records: texts.map((text, index) => {
      const content = held.get(index);
      return content === undefined
        ? cleanRecord(text, parse(text, failure), body)
        : recordParsedLater(text, content);
    }),
    connection: parseConnection(members.connection, { secrets, failure }),
    nextCursor: parseNextCursor(members.next_cursor, { secrets, failure }),
    servedAt,
    receivedAt,
    requestId,
  };
}

const findNone: FindHeld = () => Promise.resolve(new Map());

/** Returns the outline decoded, and the records as in `charactersOf`. */
function cutBody(characters: string, plural: string): CutPage {
  try {
    const { outline, records } = cutPage(characters, plural);
    return { outline: decoded(outline), records };
  } catch {
    // It is not such a list: the parser of the outline reports what is wrong.
    return { outline: decoded(characters), records: [] };
  }
}

/**
 * Parses a fetched record. Throws UnreadableResponse if there is no record under `singular`, and RecordGone if it is not the requested one: the
 * service may return the record into which it was merged.
 */
export function parseFetchedRecord(
  { body, servedAt, requestId, secrets, failure }: Answer,
  { singular, id }: { singular: string; id: string },
): FetchedRecord {
  const text = replaceNul(decodeBody(body, failure));
  const members = parseObject(text, failure);
  const value = members[singular];
  const recordText = memberText(text, singular);
  if (!isObject(value) || recordText === null) {
    throw new UnreadableResponse(failure, `JSON without an object "${singular}"`);
  }
  if (typeof value.id === 'string' && value.id !== id) throw new RecordGone(failure, servedAt);
  const record = cleanRecord(recordText, value, body);
  const connection = parseConnection(members.connection, { secrets, failure });
  return { record, connection, servedAt, requestId };
}

/**
 * Removes the service's own access tokens, which are not part of anybody's books and are never stored. Everything else stays as it was sent.
 *
 * Parsed, a large response takes up to 300 MB. Only one is parsed at a time, and its records are kept as text and parsed again when they are
 * used, so that several waiting responses hold only text.
 */
function cleanRecord(sent: string, value: unknown, { isLarge }: Body): SourceRecord {
  const text = withoutTokens(sent);
  if (isLarge) return recordParsedLater(text);
  return { text, value: text === sent ? value : (JSON.parse(text) as unknown) };
}

/** JSON.parse quotes the text in its messages, so its error is not kept as a cause. */
function parse(text: string, failure: Failure): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableResponse(failure, 'a body that is not JSON');
  }
}

function parseObject(text: string, failure: Failure): Record<string, unknown> {
  const body = parse(text, failure);
  if (!isObject(body)) throw new UnreadableResponse(failure, 'JSON that is not an object');
  return body;
}

type Origin = Pick<Answer, 'secrets' | 'failure'>;

/** A partial name does not count as none: it may be another company's. The names are stored unencrypted and shown to everybody. */
function parseConnection(connection: unknown, { secrets, failure }: Origin): ServiceConnection | null {
  if (connection === undefined || connection === null) return null;
  const { id, orgId, platform } = isObject(connection) ? connection : {};
  if (typeof id !== 'string' || typeof orgId !== 'string')
    throw new UnreadableResponse(failure, 'a connection without id and orgId');
  const named = { id, orgId, platform: typeof platform === 'string' ? platform : null };
  for (const [member, name] of Object.entries(named)) {
    if (name === null) continue;
    if (name.length > longestName)
      throw new UnreadableResponse(
        failure,
        `a connection whose ${member} has more than ${longestName} characters`,
      );
    if (repeats(secrets, name) || withoutTokensWithin(name) !== name)
      throw new UnreadableResponse(failure, `a connection whose ${member} repeats a secret`);
  }
  return named;
}

const longestName = 200;

/** Absent, null and empty all mean that this is the last page. A cursor is stored unencrypted until the next page has landed. */
function parseNextCursor(cursor: unknown, { secrets, failure }: Origin): string | null {
  if (cursor === undefined || cursor === null || cursor === '') return null;
  if (typeof cursor !== 'string') throw new UnreadableResponse(failure, 'a next_cursor that is not text');
  if (cursor.length > longestCursor)
    throw new UnreadableResponse(failure, `a next_cursor of more than ${longestCursor} characters`);
  if (repeats(secrets, cursor)) throw new UnreadableResponse(failure, 'a next_cursor that repeats a secret');
  return cursor;
}

/** It becomes part of a URL, and few servers accept longer ones. */
const longestCursor = 8_192;

/** Not the other way round: a connection's name may well be a part of its token. */
function repeats(secrets: readonly string[], text: string): boolean {
  return withoutSecrets(text, longEnough(secrets)) !== text;
}
