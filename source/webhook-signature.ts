import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Whether `X-Service-Signature` proves that the service sent exactly these bytes (API document 6.2). The comparison takes the same time for any
 * wrong signature as for the right one. Without a secret nothing is proved.
 */
export function isSignedByService(
  body: Buffer,
  signature: string | undefined,
  clientSecret: string,
): boolean {
  if (clientSecret === '' || signature === undefined) return false;
  return timingSafeEqual(hashText(signature), hashText(webhookSignature(body, clientSecret)));
}

/** `sha256=` and the HMAC-SHA256 of the body in base64. */
export function webhookSignature(body: Buffer | string, clientSecret: string): string {
  return `sha256=${createHmac('sha256', clientSecret).update(body).digest('base64')}`;
}

/** Hashes to a fixed length: only equal lengths can be compared in constant time. */
function hashText(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
