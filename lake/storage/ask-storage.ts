import { S3ServiceException, type EncodingType, type S3Client } from '@aws-sdk/client-s3';
import { isFreeOfSecrets, longEnough } from '../../errors/without-secrets.ts';
import { FileRefused, LakeRefused, LakeUnavailable, unreadableAnswer } from '../errors.ts';

/**
 * Does what needs object storage. Throws LakeRefused and LakeUnavailable when it does not do as it is told; `ofFile`: FileRefused, where it
 * refuses the object that is read and not whoever asks.
 */
export async function askStorage<Result>(
  { location, client, ofFile = false }: { location: string; client: S3Client; ofFile?: boolean },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const status = statusOf(error);
    if (status === 507 || (error instanceof Error && ofFull.has(error.name)))
      throw new LakeRefused(location, `it is full (${await reasonOf(client, error)})`, error, ofRoom);
    // 501: it does not know what is asked, and never will.
    const isRefusal =
      status === 501 ||
      (status !== undefined && status >= 400 && status < 500 && status !== 429 && status !== 408);
    if (isRefusal && ofFile && !(error instanceof Error && ofWhoever.has(error.name)))
      throw new FileRefused(location, await reasonOf(client, error), error);
    if (isRefusal || isNamed(error, 'CredentialsProviderError'))
      throw new LakeRefused(location, await reasonOf(client, error), error);
    if (status !== undefined || isNetwork(error))
      throw new LakeUnavailable(location, await reasonOf(client, error), error);
    if (isUnreadable(error)) throw new LakeUnavailable(location, unreadableAnswer, error);
    throw error;
  }
}

/** Codes of MinIO and Ceph. S3 itself is never full, and has no quotas. */
const ofFull: ReadonlySet<string> = new Set(['XMinioAdminBucketQuotaExceeded', 'QuotaExceeded']);

const ofRoom =
  'Free some space or raise its quota, then rerun "daybook export", or the command that failed because of this.';

/** Codes that say nothing of an object. */
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
 * A code of S3, if it is a word that may be shown. Whoever answers in its place may write anything there: markup, megabytes, or the
 * credentials that it was sent.
 */
export async function codeToShow(client: S3Client, code: string | undefined): Promise<string | undefined> {
  if (code === undefined || !/^[A-Za-z][A-Za-z0-9.]{0,63}$/.test(code)) return undefined;
  const { accessKeyId, secretAccessKey, sessionToken = '' } = await client.config.credentials();
  const secrets = longEnough([accessKeyId, secretAccessKey, sessionToken]);
  return isFreeOfSecrets(code, secrets) ? code : undefined;
}

/**
 * Characters that are none of XML's may be in a key: an answer that has them as they are cannot be read. Who does not know of the encoding
 * does not say that it used it.
 */
export function decodedKey(key: string, encoding: EncodingType | undefined): string {
  return encoding === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key;
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

export function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}

/** What the client says by itself is shown as it is. */
async function reasonOf(client: S3Client, error: unknown): Promise<string> {
  const status = statusOf(error);
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

/** The client lets what it could not parse be found at the error; an address that is none is told by our own reading of a listing. */
function isUnreadable(error: unknown): boolean {
  return error instanceof Error && ('$response' in error || error instanceof URIError);
}
