import { paginateListObjectsV2, type ListObjectsV2CommandOutput, type S3Client } from '@aws-sdk/client-s3';
import { decodedKey } from './ask-storage.ts';
import { LakeUnavailable, ListTooLong, unreadableAnswer } from '../errors.ts';

export interface ListedBucket {
  readonly client: S3Client;
  readonly location: string;
  readonly bucket: string;
}

/** Ten thousand pages would be a hundred files each; an endless sequence of pages is no listing. */
const mostPages = 10_000;

/**
 * Lists objects below a prefix, a page at a time. A response that does not say whether there is more is no listing, whatever its status: a
 * page from a server in the place of S3 must not be taken for an empty bucket. Throws ListTooLong.
 */
export async function* listedPages(
  { client, location, bucket }: ListedBucket,
  { prefix, delimiter }: { prefix: string; delimiter?: string },
): AsyncGenerator<ListObjectsV2CommandOutput> {
  const asked = { Bucket: bucket, Prefix: prefix, Delimiter: delimiter, EncodingType: 'url' } as const;
  let pages = 0;
  let before: string | undefined;
  for await (const page of paginateListObjectsV2({ client }, asked)) {
    const { IsTruncated: hasMore, NextContinuationToken: next } = page;
    if (hasMore === undefined || (hasMore && next === undefined))
      throw new LakeUnavailable(location, unreadableAnswer);
    pages += 1;
    if (pages > mostPages || (hasMore && next === before))
      throw new ListTooLong(location, 'its listing has no end');
    before = next;
    yield page;
  }
}

/** The keys below a prefix, a page at a time. Throws ListTooLong. */
export async function* listedKeys(listed: ListedBucket, prefix: string): AsyncGenerator<string[]> {
  for await (const { Contents = [], EncodingType } of listedPages(listed, { prefix }))
    yield Contents.map(({ Key = '' }) => decodedKey(Key, EncodingType));
}
