/** A record of the finance API, as it was written and as JSON.parse understands it. */
export interface SourceRecord {
  /** Character by character, but for NUL, which Postgres cannot store: the digits that Postgres reads. */
  readonly text: string;
  /** For checks only: no number in it may reach a table. */
  readonly value: unknown;
  /** Where the warehouse holds this very content: what else would be read and checked once more. */
  readonly held?: HeldContent | undefined;
}

/** Of a record that passed its check when it landed. */
export interface HeldContent {
  readonly id: string;
  /** As it was sent now. */
  readonly version: string;
  /** Of the text without the value of `last_synced_at`. */
  readonly hash: Buffer;
}

/** Finds those of a page's records, told by their texts as sent, that the warehouse holds: by their places in the page. */
export type FindHeld = (texts: readonly string[]) => Promise<ReadonlyMap<number, HeldContent>>;

/** The ID of a record as it was sent, of whatever type; undefined where it has none. */
export function sentIdOf({ value }: Pick<SourceRecord, 'value'>): unknown {
  return typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
}

/** A record of which only the text was kept. Throws when that is not JSON. */
export function sourceRecord(text: string): SourceRecord {
  return { text, value: JSON.parse(text) as unknown };
}

/** One whose value takes no memory: it is parsed each time it is asked for. `text` must be JSON. */
export function recordParsedLater(text: string, held?: HeldContent): SourceRecord {
  return {
    text,
    held,
    get value() {
      return JSON.parse(text) as unknown;
    },
  };
}
