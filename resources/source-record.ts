/** A record of the finance API, as its text and as parsed by JSON.parse. */
export interface SourceRecord {
  /** The unchanged text, except for NUL, which Postgres cannot store. Postgres reads its digits. */
  readonly text: string;
  /** For checks only: no number in it may reach a table. */
  readonly value: unknown;
  /** Set if the warehouse holds this very content, which then need not be read and checked again. */
  readonly held?: HeldContent | undefined;
}

/** Facts of a record that passed its check when it landed. */
export interface HeldContent {
  readonly id: string;
  /** The version as sent now. */
  readonly version: string;
  /** The hash of the text without the value of `last_synced_at`. */
  readonly hash: Buffer;
}

/** Finds, by their texts as sent, those of a page's records that the warehouse holds. The keys are indexes in the page. */
export type FindHeld = (texts: readonly string[]) => Promise<ReadonlyMap<number, HeldContent>>;

/** Returns the ID of a record as it was sent, of any type; undefined if it has none. */
export function sentIdOf({ value }: Pick<SourceRecord, 'value'>): unknown {
  return typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
}

/** Creates a record from a stored text. Throws if it is not JSON. */
export function sourceRecord(text: string): SourceRecord {
  return { text, value: JSON.parse(text) as unknown };
}

/** Creates a record whose value takes no memory, because each access parses it. `text` must be JSON. */
export function recordParsedLater(text: string, held?: HeldContent): SourceRecord {
  return {
    text,
    held,
    get value() {
      return JSON.parse(text) as unknown;
    },
  };
}
