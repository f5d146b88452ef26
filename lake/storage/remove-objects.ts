import { DeleteObjectsCommand, type _Error } from '@aws-sdk/client-s3';
import { codeToShow } from './ask-storage.ts';
import { LakeKeeps, LakeUnavailable, ListTooLong } from '../errors.ts';
import { listedKeys, type ListedBucket } from './listed-pages.ts';

/** Removes objects, then lists their common prefix to check. Throws LakeKeeps once all were tried. */
export async function removeObjects(listed: ListedBucket, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await requireNoRefusal(listed, await askToRemove(listed, keys));
  const removed = new Set(keys);
  await requireNoneListed(listed, { prefix: commonStart(keys), isMeant: (key) => removed.has(key) });
}

/**
 * Removes the meant objects below a prefix, a page at a time, then lists it to check: anyone with write access to the bucket may have put
 * millions there. Throws LakeKeeps once all were tried.
 */
export async function removeObjectsBelow(listed: ListedBucket, below: Below): Promise<void> {
  let refused: Refused = { files: 0 };
  try {
    for await (const keys of listedKeys(listed, below.prefix)) {
      const { files, code } = await askToRemove(listed, keys.filter(below.isMeant));
      refused = { files: refused.files + files, code: refused.code ?? code };
    }
  } catch (error) {
    // Objects after that are still listed.
    if (!(error instanceof ListTooLong)) throw error;
  }
  await requireNoRefusal(listed, refused);
  await requireNoneListed(listed, below);
}

interface Below {
  readonly prefix: string;
  readonly isMeant: (key: string) => boolean;
}

/** Objects that the bucket does not remove, and its code for the first of them. */
interface Refused {
  readonly files: number;
  readonly code?: string | undefined;
}

async function askToRemove({ client, bucket }: ListedBucket, keys: readonly string[]): Promise<Refused> {
  const kept: _Error[] = [];
  for (let start = 0; start < keys.length; start += 1_000) {
    const Objects = keys.slice(start, start + 1_000).map((Key) => ({ Key }));
    const told = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
    // The response has status 200, and reports errors by key.
    const { Errors = [] } = await client.send(told);
    kept.push(...Errors.filter(({ Code }) => Code !== 'NoSuchKey'));
  }
  return { files: kept.length, code: kept[0]?.Code };
}

async function requireNoRefusal({ client, location }: ListedBucket, { files, code }: Refused): Promise<void> {
  if (files === 0) return;
  const shown = (await codeToShow(client, code)) ?? 'without a code';
  if (passing.has(shown)) throw new LakeUnavailable(location, shown);
  throw new LakeKeeps(location, { files, code: shown });
}

/** A response without errors need not come from a server that has removed them. */
async function requireNoneListed(listed: ListedBucket, { prefix, isMeant }: Below): Promise<void> {
  let files = 0;
  try {
    for await (const keys of listedKeys(listed, prefix)) files += keys.filter(isMeant).length;
  } catch (error) {
    if (!(error instanceof ListTooLong)) throw error;
    files = Math.max(1, files);
  }
  if (files > 0) throw new LakeKeeps(listed.location, { files, code: 'they are still listed' });
}

function commonStart([first = '', ...others]: readonly string[]): string {
  return others.reduce((start, key) => {
    let length = 0;
    while (length < start.length && key[length] === start[length]) length += 1;
    return start.slice(0, length);
  }, first);
}

/** Codes of keys that can be removed the next time. */
const passing: ReadonlySet<string> = new Set(['InternalError', 'SlowDown', 'ServiceUnavailable']);
