import { readdir, readFile, readlink } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';

/** The ports on which a process listens (Linux only). */
export async function portsOf(pid: number): Promise<number[]> {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all(
    (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => 'closed meanwhile')),
  );
  const own = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]));
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')));
  const listening = tables
    .flatMap((table) => table.split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && own.has(inode));
  return listening.map(([, address = '']) => Number.parseInt(address.split(':').at(-1) ?? '', 16));
}

/** The data that a port gave, by Spark's protocol, to a process without the secret. */
export interface Asked {
  readonly blocks: readonly Buffer[];
  /** The reasons for refused requests. */
  readonly refusals: ReadonlySet<string>;
}

/** Requests the first broadcasts of a session. Their content is compressed, but a text that occurs once stays readable. */
export async function askForBroadcasts(port: number): Promise<Asked> {
  const socket = connect(port, '127.0.0.1');
  const answers = framesOf(socket);
  const blocks: Buffer[] = [];
  const refusals = new Set<string>();
  const ask = async (request: Buffer): Promise<Buffer | undefined> => {
    socket.write(request);
    const { value } = await answers.next();
    if (value === undefined) refusals.add('hung up');
    else if (!failures.has(value[0])) return value;
    else refusals.add(value.toString('utf8', 13).split('\n', 1).join('').replaceAll(/\d+/g, '…'));
    return undefined;
  };
  for (let id = 0; id < 300 && !refusals.has('hung up'); id += 1) {
    const opened = await ask(openBlocks(`broadcast_${id}_piece0`));
    // The stream's id follows the id of the request, the length of the message, and its kind.
    const block = opened && (await ask(fetchChunk(opened.subarray(14, 22))));
    if (block !== undefined) blocks.push(block);
  }
  socket.destroy();
  return { blocks, refusals };
}

/** Yields messages without their lengths. */
async function* framesOf(socket: Socket): AsyncGenerator<Buffer, undefined> {
  let read = Buffer.alloc(0);
  try {
    for await (const part of socket as AsyncIterable<Buffer>) {
      read = Buffer.concat([read, part]);
      while (read.length >= 8 && read.readBigUInt64BE() <= read.length) {
        const length = Number(read.readBigUInt64BE());
        yield read.subarray(8, length);
        read = read.subarray(length);
      }
    }
  } catch {
    // The same as a hang-up.
  }
  return undefined;
}

/** The kinds of messages that report a missing chunk, or a failed request. */
const failures = new Set<unknown>([2, 5]);

function openBlocks(id: string): Buffer {
  // The line break ends the request for a port that expects lines.
  const body = Buffer.concat([Buffer.of(0), text('\n'), text('driver'), int(1), text(id)]);
  return frame(Buffer.concat([Buffer.of(3), Buffer.alloc(8), int(body.length), body]));
}

function fetchChunk(stream: Buffer): Buffer {
  return frame(Buffer.concat([Buffer.of(0), stream, int(0)]));
}

function frame(message: Buffer): Buffer {
  return Buffer.concat([int(0), int(8 + message.length), message]);
}

function text(content: string): Buffer {
  return Buffer.concat([int(Buffer.byteLength(content)), Buffer.from(content)]);
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
