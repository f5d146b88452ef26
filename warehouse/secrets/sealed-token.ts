import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { WrongSecretKey } from '../errors.ts';

const nonceBytes = 12;
const tagBytes = 16;

/** Seals a token with AES-256-GCM, bound to the connection's name: a sealed token moved to another row does not open. */
export function sealToken(key: Buffer, input: { connectionId: string; token: string }): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(input.connectionId));
  const sealed = Buffer.concat([cipher.update(input.token, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Opens a sealed token. Throws WrongSecretKey if it was sealed with another key, or for another connection. */
export function openToken(key: Buffer, input: { connectionId: string; sealed: Buffer }): string {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, input.sealed.subarray(0, nonceBytes))
      .setAAD(Buffer.from(input.connectionId))
      .setAuthTag(input.sealed.subarray(nonceBytes, nonceBytes + tagBytes));
    const token = decipher.update(input.sealed.subarray(nonceBytes + tagBytes));
    return Buffer.concat([token, decipher.final()]).toString('utf8');
  } catch {
    throw new WrongSecretKey();
  }
}

/** Returns a mark that tells a token from any that is set later, without revealing anything about it. */
export function tokenMark(sealed: Buffer): string {
  return createHash('sha256').update(sealed).digest('hex');
}

/** SQL for the same, of a row of `sync.connections`. */
export const tokenMarkSql = "encode(sha256(token_sealed), 'hex')";

/** Returns a fingerprint that tells two keys apart without revealing anything about either. */
export function keyFingerprint(key: Buffer): string {
  return createHash('sha256').update('daybook secret key').update(key).digest('hex').slice(0, 16);
}
