import { Readable } from 'node:stream';

/** CSV that is sorted by its first column, a number, as one stream for each number. */
export interface CutCsv {
  /** Returns the rows that begin with the number. Callers ask in sorted order, and read each stream to its end before the next. */
  rowsOf(value: number): Readable;
  /** Reads the rest: the database session is busy until its stream ends. */
  drain(): Promise<void>;
}

/** Expects the CSV of Postgres: rows end with a line feed, and quotes within a quoted value are doubled. */
export function cutCsv(source: Readable): CutCsv {
  // The stream may fail before anybody reads it; the reader gets the error later.
  source.on('error', () => undefined);
  const runs = readRuns(source);
  let next: IteratorResult<Run> | undefined;
  async function* bytesWith(value: number): AsyncGenerator<Buffer> {
    for (
      next ??= await runs.next();
      next.done !== true && next.value.value === value;
      next = await runs.next()
    )
      yield next.value.bytes;
  }
  return {
    rowsOf: (value) => Readable.from(bytesWith(value), { objectMode: false }),
    async drain() {
      while ((await runs.next()).done !== true);
    },
  };
}

/** Bytes of consecutive rows, or of a part of a row, that begin with the same number. */
interface Run {
  readonly value: number;
  readonly bytes: Buffer;
}

async function* readRuns(source: Readable): AsyncGenerator<Run> {
  let value: number | undefined;
  let isQuoted = false;
  let isRowStart = true;
  let rest: Buffer = Buffer.alloc(0);
  for await (const read of source) {
    const chunk = rest.length === 0 ? (read as Buffer) : Buffer.concat([rest, read as Buffer]);
    let from = 0;
    let at = 0;
    while (at < chunk.length) {
      if (isRowStart) {
        const comma = chunk.indexOf(commaByte, at);
        if (comma < 0) break;
        const begun = Number(chunk.toString('latin1', at, comma));
        if (value !== undefined && value !== begun && at > from) {
          yield { value, bytes: chunk.subarray(from, at) };
          from = at;
        }
        value = begun;
        at = comma + 1;
      }
      ({ at, isQuoted, isEnd: isRowStart } = endOfRow(chunk, at, isQuoted));
    }
    if (value !== undefined && at > from) yield { value, bytes: chunk.subarray(from, at) };
    rest = chunk.subarray(at);
  }
}

/** Returns where the row ends, or the end of the chunk if that comes first. */
function endOfRow(
  chunk: Buffer,
  from: number,
  isQuotedBefore: boolean,
): { at: number; isQuoted: boolean; isEnd: boolean } {
  let isQuoted = isQuotedBefore;
  for (let at = from; at < chunk.length; at += 1) {
    const byte = chunk[at];
    if (byte === quoteByte) isQuoted = !isQuoted;
    else if (byte === lineFeed && !isQuoted) return { at: at + 1, isQuoted, isEnd: true };
  }
  return { at: chunk.length, isQuoted, isEnd: false };
}

const commaByte = 0x2c;
const quoteByte = 0x22;
const lineFeed = 0x0a;
