import { createHash } from 'node:crypto';
import { isObject } from '../resources/is-object.ts';
import { microsecondsOf } from '../resources/instant.ts';
import { isTooLong } from '../resources/longest-id.ts';
import { resources } from '../resources/index.ts';
import type { Resource } from '../resources/resource.ts';
import { isWellFormed } from '../resources/well-formed.ts';
import { replaceNul } from './replace-nul.ts';
import { withoutTokens } from './without-tokens.ts';

/** A webhook (API document 6.2), reduced to the parts that matter. */
export interface Webhook {
  /** The body without access tokens, otherwise unchanged. */
  readonly text: string;
  /** The digest of `text`, equal for equal content. */
  readonly digest: string;
  readonly type: string;
  readonly code: string;
  /** Null also if it cannot be a connection's ID. */
  readonly serviceConnectionId: string | null;
  /** Null if it is about nothing that is synced. */
  readonly resource: Resource | null;
  /** Null also if it cannot be a key. */
  readonly recordId: string | null;
  /** The version of the record in the webhook, by the service's clock; null if there is none. */
  readonly version: string | null;
}

/** Undefined if the body is not a JSON object. */
export function readWebhook(body: Buffer): Webhook | undefined {
  const sent = replaceNul(body.toString('utf8'));
  const parsed = parseObject(sent);
  if (parsed === undefined) return undefined;
  const text = withoutTokens(sent);
  const type = nonEmptyText(parsed.type) ?? '';
  const resource =
    resources.find(({ webhookName, eventName }) => isNamed(type, webhookName, eventName)) ?? null;
  const record = resource === null ? undefined : (parsed[resource.singular] ?? parsed[type.toLowerCase()]);
  const version = isObject(record) && resource !== null ? nonEmptyText(record[resource.version]) : null;
  return {
    text,
    digest: createHash('sha256').update(text).digest('hex'),
    type,
    code: nonEmptyText(parsed.code) ?? '',
    serviceConnectionId: readConnection(parsed.connection_id),
    resource,
    recordId: isObject(record) ? readRecordId(record.id) : null,
    version: version !== null && microsecondsOf(version) !== undefined ? version : null,
  };
}

/** The document does not list the names of webhooks, and has separate names for events (4.6, 6.2). A webhook is a hint: either name counts. */
function isNamed(type: string, ...names: (string | null)[]): boolean {
  return names.some((name) => name !== null && name === type);
}

/** The error of JSON.parse quotes the text, so it is not kept. */
function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function nonEmptyText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A text longer than a key names no connection. */
function readConnection(value: unknown): string | null {
  const name = nonEmptyText(value);
  return name !== null && !isTooLong(name) ? name : null;
}

function readRecordId(value: unknown): string | null {
  const id = nonEmptyText(value);
  return id !== null && isWellFormed(id) && !isTooLong(id) ? id : null;
}
