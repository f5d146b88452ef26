import { isReadable } from './parquet/duck-db.ts';
import { LakeRefused } from './errors.ts';
import type { Lake, LakeToOpen } from './lake.ts';
import { isBucket } from './location.ts';
import { openFolderLake } from './storage/folder-lake.ts';

export async function openLake({ location, scratch, assertHeld }: LakeToOpen): Promise<Lake> {
  if (!isBucket(location)) {
    if (!isReadable(location))
      throw new LakeRefused(location, 'its path has a backslash, and one of [, * and ?');
    return openFolderLake(location, assertHeld);
  }
  // Otherwise the SDK warns on every run that a later release of it drops certain Node versions.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
  // The SDK takes 100 ms and 30 MB to load, so it is loaded only if a bucket is used.
  const { openS3Lake } = await import('./storage/s3-lake.ts');
  return openS3Lake({ location, scratch, assertHeld });
}
