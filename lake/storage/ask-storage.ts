import { S3ServiceException, type EncodingType, type S3Client } from '@aws-sdk/client-s3';
import { isFreeOfSecrets, longEnough } from '../../errors/without-secrets.ts';
import { LockNotHeld } from '../lock-not-held.ts';
import { FileRefused, LakeRefused, LakeUnavailable, unreadableAnswer } from '../errors.ts';

/**
 * Runs requests to object storage. Throws LakeRefused or LakeUnavailable if one fails; with `ofFile`, FileRefused if storage refuses the
 * object, and not the caller.
 */
export async function askStorage<Result>(
  { location, client, ofFile = false }: { location: string; client: S3Client; ofFile?: boolean },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LockNotHeld) throw error.why;
    const status = httpStatus(error);
    if (status === 507 || (error instanceof Error && ofFull.has(error.name)))
      throw new LakeRefused(
        location,
        `it is full (${await describeStorageError(client, error)})`,
        error,
        ofRoom,
      );
    // 501: the server does not implement the request, and never will.
    const isRefusal =
      status === 501 ||
      (status !== undefined && status >= 400 && status < 500 && status !== 429 && status !== 408);
    if (isRefusal && ofFile && !(error instanceof Error && ofWhoever.has(error.name)))
      throw new FileRefused(location, await describeStorageError(client, error), error);
    if (isRefusal || isNamed(error, 'CredentialsProviderError'))
      throw new LakeRefused(location, await describeStorageError(client, error), error);
    if (status !== undefined || isNetwork(error))
      throw new LakeUnavailable(location, await describeStorageError(client, error), error);
    if (isUnreadable(error)) throw new LakeUnavailable(location, unreadableAnswer, error);
    throw error;
  }
}

/** Codes of MinIO and Ceph. S3 itself is never full, and has no quotas. */
const ofFull: ReadonlySet<string> = new Set(['XMinioAdminBucketQuotaExceeded', 'QuotaExceeded']);

const ofRoom =
  'Free some space or raise its quota, then rerun "daybook export", or the command that failed because of this.';

/** Codes that concern the caller, not an object. */
const ofWhoever: ReadonlySet<string> = new Set([
  'AccountProblem',
  'AllAccessDisabled',
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidSecurity',
  'InvalidToken',
  'NoSuchBucket',
  'NotSignedUp',
  'RequestExpired',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
  'TokenRefreshRequired',
]);

/**
 * Returns a code of S3 if it is a word that may be shown. A server that answers in its place may write anything there: markup, megabytes, or
 * the credentials that it received.
 */
export async function codeToShow(client: S3Client, code: string | undefined): Promise<string | undefined> {
  if (code === undefined || !/^[A-Za-z][A-Za-z0-9.]{0,63}$/.test(code)) return undefined;
  const { accessKeyId, secretAccessKey, sessionToken = '' } = await client.config.credentials();
  const secrets = longEnough([accessKeyId, secretAccessKey, sessionToken]);
  return isFreeOfSecrets(code, secrets) ? code : undefined;
}

/**
 * Decodes a key. Keys may have characters that XML cannot hold, and a response with them unencoded cannot be read. A server that does not know
 * the encoding does not declare it.
 */
export function decodedKey(key: string, encoding: EncodingType | undefined): string {
  return encoding === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key;
}

export function httpStatus(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

export function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}

/** Errors of the client itself are shown as they are. */
async function describeStorageError(client: S3Client, error: unknown): Promise<string> {
  const status = httpStatus(error);
  if (status === undefined) return error instanceof Error ? error.name : String(error);
  const code = error instanceof Error ? error.name : undefined;
  return (await codeToShow(client, code)) ?? `status ${status}`;
}

function isNetwork(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error.name === 'TimeoutError' ||
      ('code' in error && /^(E[A-Z]+|UND_ERR_)/.test(String(error.code)) && error.code !== 'ENOSPC'))
  );
}

/** The client attaches a response that it could not parse to the error. A URIError comes from our own decoding of a listing. */
function isUnreadable(error: unknown): boolean {
  return error instanceof Error && ('$response' in error || error instanceof URIError);
}
