import { createHmac } from 'node:crypto';

/** Returns the value of `X-Service-Signature` (6.2): base64 HMAC-SHA256 of the body with the client secret. */
export function sign(body: string, clientSecret: string): string {
  return `sha256=${createHmac('sha256', clientSecret).update(body).digest('base64')}`;
}
