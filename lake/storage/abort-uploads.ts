import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type MultipartUpload,
} from '@aws-sdk/client-s3';
import { codeToShow, decodedKey, isNamed, httpStatus } from './ask-storage.ts';
import { LakeKeeps, LakeUnavailable, ListTooLong, unreadableAnswer } from '../errors.ts';
import type { ListedBucket } from './listed-pages.ts';

interface Uploads extends ListedBucket {
  readonly prefix: string;
}

/** Pages of a thousand uploads. */
const mostPages = 1_000;

/**
 * Aborts the uploads below a prefix. An upload that is gone counts as aborted, and a server without multipart uploads has none. Throws LakeKeeps
 * once all were tried, if it lacks permission for some.
 */
export async function abortUploads({ client, location, bucket, prefix }: Uploads): Promise<void> {
  let refused: unknown;
  try {
    for await (const { Key, UploadId } of uploadsBelow({ client, location, bucket, prefix })) {
      try {
        await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
      } catch (error) {
        if (httpStatus(error) === 403) refused ??= error;
        else if (httpStatus(error) !== 404 || isNamed(error, 'NoSuchBucket')) throw error;
      }
    }
  } catch (error) {
    // The aborted uploads are gone: the next time there are fewer.
    if (error instanceof ListTooLong) throw new LakeKeeps(location, { files: 'uploads', code: 'too many' });
    if (httpStatus(error) === 501) return;
    if (httpStatus(error) !== 403) throw error;
    refused ??= error;
  }
  if (refused === undefined) return;
  const code = await codeToShow(client, refused instanceof Error ? refused.name : undefined);
  throw new LakeKeeps(location, { files: 'uploads', code: code ?? 'status 403' });
}

async function* uploadsBelow({ client, location, bucket, prefix }: Uploads): AsyncGenerator<MultipartUpload> {
  let from: { KeyMarker?: string; UploadIdMarker?: string | undefined } = {};
  for (let page = 1; page <= mostPages; page += 1) {
    const asked = { Bucket: bucket, Prefix: prefix, EncodingType: 'url', ...from } as const;
    const found = await client.send(new ListMultipartUploadsCommand(asked));
    const { IsTruncated: hasMore, NextKeyMarker: next, EncodingType } = found;
    if (hasMore === undefined || (hasMore && next === undefined))
      throw new LakeUnavailable(location, unreadableAnswer);
    for (const upload of found.Uploads ?? [])
      yield { ...upload, Key: decodedKey(upload.Key ?? '', EncodingType) };
    if (!hasMore || next === undefined) return;
    from = { KeyMarker: decodedKey(next, EncodingType), UploadIdMarker: found.NextUploadIdMarker };
  }
  throw new ListTooLong(location, 'its listing has no end');
}
