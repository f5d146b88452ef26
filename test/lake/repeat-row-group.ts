/**
 * Makes a Parquet file whose footer names its one row group again and again: as many rows as wanted from a few bytes. `rows: false` leaves
 * the file's number of rows unchanged; readers do not look at it.
 */
export function repeatRowGroup(file: Buffer, { times, rows }: { times: number; rows: boolean }): Buffer {
  const length = file.readUInt32LE(file.length - 8);
  const start = file.length - 8 - length;
  const footer = compactReader(file.subarray(start, file.length - 8));
  const parts: Buffer[] = [];
  for (let field = footer.field(); field !== undefined; field = footer.field()) {
    if (field.id === numRows && rows) {
      parts.push(field.header, varint(footer.varint() * BigInt(times)));
    } else if (field.id === rowGroups) {
      footer.take(1);
      const group = footer.value(struct);
      parts.push(field.header, Buffer.from([0xf0 | struct]), varint(BigInt(times)));
      parts.push(...Array.from({ length: times }, () => group));
    } else parts.push(field.header, footer.value(field.type));
  }
  const made = Buffer.concat([...parts, Buffer.from([0])]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(made.length);
  return Buffer.concat([file.subarray(0, start), made, size, Buffer.from('PAR1')]);
}

/** Fields of FileMetaData in parquet.thrift. */
const numRows = 3;
const rowGroups = 4;

/** A type in Thrift's compact protocol. */
const struct = 12;

interface Field {
  readonly id: number;
  readonly type: number;
  readonly header: Buffer;
}

interface CompactReader {
  /** Undefined at the end of a struct. */
  field(): Field | undefined;
  value(type: number): Buffer;
  varint(): bigint;
  take(bytes: number): Buffer;
}

function compactReader(bytes: Buffer): CompactReader {
  let at = 0;
  let last = 0;
  const take = (count: number): Buffer => bytes.subarray(at, (at += count));
  const byte = (): number => bytes[at++] ?? 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const next = byte();
      value |= BigInt(next & 127) << shift;
      if (next < 128) return value;
    }
  };
  const skip = (type: number): void => {
    if (type === 3) at += 1;
    else if (type >= 4 && type <= 6) readVarint();
    else if (type === 7) at += 8;
    else if (type === 8) take(Number(readVarint()));
    else if (type === 9 || type === 10) skipList();
    else if (type === struct) skipStruct();
  };
  const skipList = (): void => {
    const header = byte();
    const count = header >> 4 === 15 ? Number(readVarint()) : header >> 4;
    for (let seen = 0; seen < count; seen += 1)
      if ((header & 15) <= 2) at += 1;
      else skip(header & 15);
  };
  const skipStruct = (): void => {
    for (let header = byte(); header !== 0; header = byte()) {
      if (header >> 4 === 0) readVarint();
      skip(header & 15);
    }
  };
  return {
    take,
    varint: readVarint,
    value(type) {
      const start = at;
      skip(type);
      return bytes.subarray(start, at);
    },
    field() {
      const start = at;
      const header = byte();
      if (header === 0) return undefined;
      last += header >> 4;
      return { id: last, type: header & 15, header: bytes.subarray(start, at) };
    },
  };
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left >>= 7n) {
    if (left < 128n) return Buffer.from([...bytes, Number(left)]);
    bytes.push(Number(left & 127n) | 128);
  }
}
