import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/**
 * Returns what Postgres stores of a password (RFC 5803, SCRAM-SHA-256). Postgres accepts it in place of the password, so that neither a server's log
 * nor SQL that is handed to an administrator holds the password itself.
 */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const storedKey = createHash('sha256').update(keyFor(salted, 'Client Key')).digest();
  const serverKey = keyFor(salted, 'Server Key');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey.toString('base64')}:${serverKey.toString('base64')}`;
}

/** The default of Postgres. */
const iterations = 4096;

function keyFor(salted: Buffer, purpose: string): Buffer {
  return createHmac('sha256', salted).update(purpose).digest();
}
