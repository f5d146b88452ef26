import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  type HeadObjectOutput,
  type _Object,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { abortUploads } from './abort-uploads.ts';
import { askStorage, decodedKey, isNamed, httpStatus } from './ask-storage.ts';
import { checkBeforeWrites } from './check-before-writes.ts';
import {
  FileRefused,
  LakeUnavailable,
  ListTooLong,
  refused,
  unlessRefused,
  unreadableAnswer,
} from '../errors.ts';
import { listedKeys, listedPages } from './listed-pages.ts';
import {
  manifestFile,
  maxBytesFor,
  notLocked,
  unreadable,
  type AssertHeld,
  type FileUsed,
  type Found,
  type KeptFile,
  type SizedFile,
} from '../lake.ts';
import { removeObjects, removeObjectsBelow } from './remove-objects.ts';

/** The objects under a prefix of a bucket. Paths are relative to it. */
export interface Bucket {
  /** Lists the paths that `isMeant` accepts: anyone with write access may have put any number of others there. Throws ListTooLong. */
  list(prefix: string, isMeant?: (path: string) => boolean): Promise<string[]>;
  /** Lists the names directly under a prefix that have objects below them and that `isMeant` accepts. Throws ListTooLong. */
  folders(prefix: string, isMeant?: (name: string) => boolean): Promise<string[]>;
  /** Whether there is any object under a prefix that Daybook could have written. */
  hasAny(prefix: string): Promise<boolean>;
  /** Whether an object exists according to a listing. */
  isListed(path: string): Promise<boolean>;
  /** Reads a small object; without text if it may not be read. */
  read(path: string): Promise<Found | undefined>;
  /** Undefined if there is no such object. Throws FileRefused. */
  bytesOf(path: string): Promise<number | undefined>;
  /** Writes an object if it is still as it was found. Returns whether it did. */
  replace(path: string, text: string, found: Found | undefined): Promise<boolean>;
  /** Writes an object, with its SHA-256 as metadata; unless `over`, only if it does not exist yet. Returns whether it did. */
  upload(
    path: string,
    localPath: string,
    how: { over: boolean; sha256?: string | undefined },
  ): Promise<boolean>;
  /**
   * Lets the server copy an object, if it exists, has the size and SHA-256 of its upload, and is not too large. Unless `over`, copies only if the
   * target does not exist, as far as the server supports this condition. Returns whether it did. Throws FileRefused.
   */
  copy(file: KeptFile, to: string, how: { over: boolean }): Promise<boolean>;
  /** Whether an object exists, has the size and was uploaded, or copied, with the SHA-256. */
  holds(file: KeptFile): Promise<boolean>;
  /** Returns why it did not; undefined if it did. */
  download(file: SizedFile, localPath: string): Promise<FileUsed<never>['problem']>;
  /** Removes objects, then lists their common prefix to check: best those of one folder. */
  remove(paths: readonly string[]): Promise<void>;
  /** Removes all objects under a prefix, however many they are. */
  removeBelow(prefix: string): Promise<void>;
  /** Aborts unfinished uploads: they take space that no listing shows. */
  abortUploads(prefix: string): Promise<void>;
  close(): void;
}

/** Metadata of an object. */
const sha256Key = 'sha256';

/**
 * Region, credentials and endpoint are found by the AWS SDK. Calls throw LakeRefused and LakeUnavailable, and those that write or remove what
 * `assertHeld` throws.
 */
export function openBucket(
  location: string,
  {
    silenceMs = 60_000,
    // Thirty tables and marts of ten thousand snapshots are fewer; an endless listing is not.
    mostPaths = 1_000_000,
    assertHeld = notLocked,
  }: { silenceMs?: number; mostPaths?: number; assertHeld?: AssertHeld } = {},
): Bucket {
  const [, Bucket = '', prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(location) ?? [];
  // Every bucket can be addressed by path; few servers other than AWS support anything else.
  const client = new S3Client({
    forcePathStyle: true,
    requestHandler: { connectionTimeout: 10_000, socketTimeout: silenceMs },
  });
  checkBeforeWrites(client, assertHeld);
  const asked = <Result>(work: () => Promise<Result>): Promise<Result> =>
    askStorage({ location, client }, work);
  const askedOfFile = <Result>(work: () => Promise<Result>): Promise<Result> =>
    askStorage({ location, client, ofFile: true }, work);
  const keyOf = (path: string): string => (prefix === '' ? path : `${prefix}/${path}`);
  const pathOf = (key: string): string => key.slice(keyOf('').length);
  /** Gathers the listed paths under a prefix that `isMeant` accepts. */
  const createGathered = (
    under: string,
    isMeant: (path: string) => boolean,
  ): { paths: string[]; add: (path: string) => void } => {
    const paths: string[] = [];
    let characters = 0;
    const add = (path: string): void => {
      if (!isMeant(path)) return;
      characters += path.length;
      if (paths.length >= mostPaths || characters > mostPaths * charactersOfPath)
        throw new ListTooLong(location, `it lists more files below ${under} than Daybook writes`);
      paths.push(path);
    };
    return { paths, add };
  };
  /** A server that answers in the place of S3 does not name the written version. */
  const requireVersion = (written: { ETag?: string | undefined } | undefined): void => {
    if (written?.ETag === undefined) throw new LakeUnavailable(location, unreadableAnswer);
  };
  const at = (path: string): { Bucket: string; Key: string } => ({ Bucket, Key: keyOf(path) });
  const listedAt = { client, location, bucket: Bucket };

  const findHeld = async ({ path, bytes, sha256 }: KeptFile): Promise<HeadObjectOutput | undefined> => {
    const found = await unlessMissing(() => client.send(new HeadObjectCommand(at(path))));
    return found?.ContentLength === bytes && found.Metadata?.[sha256Key] === sha256 ? found : undefined;
  };

  const readSmall = async (path: string): Promise<Found> => {
    const { Body, ContentLength = Infinity, ETag = '' } = await client.send(new GetObjectCommand(at(path)));
    if (ContentLength > maxBytesFor(path)) {
      if (Body instanceof Readable) Body.destroy();
      return unreadable(ETag);
    }
    let text = '';
    const problem = await unlessOther(async () => {
      text = (await Body?.transformToString()) ?? '';
    });
    return problem === undefined ? { text, version: ETag } : unreadable(ETag);
  };

  /** The key itself is listed before the keys that begin with it. */
  const findListed = async (key: string): Promise<_Object | undefined> => {
    for await (const { Contents = [], EncodingType } of listedPages(listedAt, { prefix: key })) {
      const found = Contents.find(({ Key = '' }) => decodedKey(Key, EncodingType) === key);
      if (Contents.length > 0) return found;
    }
    return undefined;
  };

  return {
    list: (under, isMeant = () => true) =>
      asked(async () => {
        const { paths, add } = createGathered(under, isMeant);
        for await (const keys of listedKeys(listedAt, keyOf(under))) for (const key of keys) add(pathOf(key));
        return paths;
      }),
    folders: (under, isMeant = () => true) =>
      asked(async () => {
        const { paths, add } = createGathered(under, isMeant);
        const below = { prefix: keyOf(under), delimiter: '/' };
        for await (const { CommonPrefixes = [], EncodingType } of listedPages(listedAt, below))
          for (const { Prefix = '' } of CommonPrefixes)
            add(decodedKey(Prefix, EncodingType).slice(keyOf(under).length, -1));
        return paths;
      }),
    hasAny: (under) =>
      asked(async () => {
        try {
          for await (const keys of listedKeys(listedAt, keyOf(under)))
            if (keys.some((key) => canBeOurs(pathOf(key)))) return true;
          return false;
        } catch (error) {
          // A later one may be.
          if (!(error instanceof ListTooLong)) throw error;
          return true;
        }
      }),
    isListed: (path) => asked(async () => (await findListed(keyOf(path))) !== undefined),
    read: async (path) => {
      try {
        return await askedOfFile(() => unlessMissing(() => readSmall(path)));
      } catch (error) {
        if (!(error instanceof FileRefused)) throw error;
        // Its version allows replacing it; a manifest is never replaced.
        const found = path.endsWith(manifestFile) ? undefined : await asked(() => findListed(keyOf(path)));
        return unreadable(found?.ETag ?? '', error.code);
      }
    },
    bytesOf: (path) =>
      askedOfFile(() =>
        unlessMissing(async () => (await client.send(new HeadObjectCommand(at(path)))).ContentLength ?? 0),
      ),
    replace: (path, text, found) =>
      asked(async () => {
        const condition = found === undefined ? { IfNoneMatch: '*' } : { IfMatch: found.version };
        const body = Buffer.from(text);
        const sized = { Body: body, ContentLength: body.length };
        const replaced = await unlessMissing(() =>
          unlessChanged(async () => {
            requireVersion(await client.send(new PutObjectCommand({ ...at(path), ...sized, ...condition })));
          }),
        );
        // The object to be replaced is gone.
        return replaced ?? false;
      }),
    upload: (path, localPath, { over, sha256 }) =>
      asked(() =>
        unlessChanged(async () => {
          const condition = over ? {} : { IfNoneMatch: '*' };
          const remembered = sha256 === undefined ? {} : { Metadata: { [sha256Key]: sha256 } };
          const params = { ...at(path), Body: createReadStream(localPath), ...condition, ...remembered };
          await new Upload({ client, params, partSize, queueSize: 2 }).done();
        }),
      ),
    copy: ({ path, bytes, sha256 }, to, { over }) =>
      askedOfFile(async () => {
        if (bytes > mostCopied) return false;
        const found = await findHeld({ path, bytes, sha256 });
        if (found === undefined) return false;
        // The ETag differs if somebody replaces the object at this moment.
        const names = `${Bucket}/${keyOf(path)}`.split('/').map(encodeURIComponent);
        const source = { CopySource: names.join('/'), CopySourceIfMatch: found.ETag };
        const condition = over ? {} : { IfNoneMatch: '*' };
        const copied = await unlessMissing(() =>
          unlessChanged(async () => {
            const copying = new CopyObjectCommand({ ...at(to), ...source, ...condition });
            const { CopyObjectResult } = await client.send(copying);
            requireVersion(CopyObjectResult);
          }),
        );
        return copied ?? false;
      }),
    holds: (file) => asked(async () => (await findHeld(file)) !== undefined),
    download: ({ path, bytes }, localPath) =>
      asked(async () => {
        const found = await unlessRefused(() =>
          askedOfFile(() => unlessMissing(() => client.send(new GetObjectCommand(at(path))))),
        );
        if (found === refused) return 'may not be read';
        if (found === undefined) return 'is missing';
        const { Body, ContentLength = bytes } = found;
        if (!(Body instanceof Readable)) throw new Error('An object without a body cannot be downloaded.');
        if (ContentLength !== bytes) {
          Body.destroy();
          return 'has another size';
        }
        return await unlessOther(() => pipeline(Body, exactly(bytes), createWriteStream(localPath)));
      }),
    remove: (paths) => asked(() => removeObjects(listedAt, paths.filter(canBeOurs).map(keyOf))),
    removeBelow: (under) =>
      asked(() =>
        removeObjectsBelow(listedAt, { prefix: keyOf(under), isMeant: (key) => canBeOurs(pathOf(key)) }),
      ),
    abortUploads: (under) => asked(() => abortUploads({ ...listedAt, prefix: keyOf(under) })),
    close: () => {
      client.destroy();
    },
  };
}

/** Our paths have some 120; a key may have 1,024, and a million such keys a gigabyte. */
const charactersOfPath = 250;

/**
 * None of our paths has a control character, an invisible one, or U+FFFD, with which some servers list these. Anyone with write access to the
 * bucket can leave such keys there. A request to remove objects cannot name them: they stay, and nothing of ours with them.
 */
function canBeOurs(path: string): boolean {
  return /^[^\p{C}\ufffd]*$/u.test(path);
}

/** Passes on at most this number of bytes: a server need not say how many it sends. */
function exactly(bytes: number): (source: AsyncIterable<Buffer>) => AsyncGenerator<Buffer> {
  return async function* (source) {
    let left = bytes;
    for await (const piece of source) {
      left -= piece.length;
      if (left < 0) throw new OtherSize();
      yield piece;
    }
    if (left > 0) throw new OtherSize();
  };
}

class OtherSize extends Error {}

async function unlessOther(work: () => Promise<void>): Promise<FileUsed<never>['problem']> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof OtherSize) return 'has another size';
    // The client reports only in this way that the bytes do not match the checksum stored with them.
    if (error instanceof Error && error.message.startsWith('Checksum mismatch')) return 'has other bytes';
    throw error;
  }
}

/** S3 refuses to copy an object of more than 5 GB in one request, though it accepts larger ones in parts. */
const mostCopied = 5 * 1024 ** 3;

/** Parts of 16 MB: four in memory at most, and objects of up to 160 GB. */
const partSize = 16 * 1_048_576;

async function unlessMissing<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    // A missing bucket is not the same as a missing object.
    if (httpStatus(error) === 404 && !isNamed(error, 'NoSuchBucket')) return undefined;
    throw error;
  }
}

async function unlessChanged(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    // 412: the condition does not hold; 409: somebody else writes at this moment.
    if (httpStatus(error) === 412 || httpStatus(error) === 409) return false;
    // The response to a completed upload was lost and the request sent again, or somebody has aborted the upload.
    if (isNamed(error, 'NoSuchUpload')) return false;
    throw error;
  }
}
