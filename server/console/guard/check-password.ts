import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import basicAuth from '@fastify/basic-auth';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import { registry } from '../../../worker/metrics.ts';
import { countByTheMinute } from '../../count-by-the-minute.ts';

const refused = new Counter({
  name: 'daybook_console_passwords_refused_total',
  help: 'Requests to the console with a wrong password',
  registers: [registry],
});

const slowdownMilliseconds = 500;
/** The number of wrong guesses per address that are delayed at a time; further ones are answered at once. */
const mostWaiting = 5;

/**
 * Adds HTTP Basic authentication with any user name to the routes of this server. Every password is checked, so the right one always gets in
 * while others guess, even from the same address. Guessing is hopeless because of the required length of the password.
 */
export async function checkPassword(
  server: FastifyInstance,
  { password, logger }: { readonly password: string; readonly logger: Logger },
): Promise<void> {
  const right = hashText(password);
  const waiting = new Map<string, number>();
  const countAddress = countByTheMinute(logger, 'The console was asked for with wrong passwords.');
  await server.register(basicAuth, {
    authenticate: { realm: 'Daybook' },
    async validate(_user, given, { ip }) {
      if (timingSafeEqual(hashText(given), right)) return;
      refused.inc();
      countAddress(ip);
      await slowDown(ip);
      throw new WrongPassword();
    },
  });
  server.addHook('onRequest', server.basicAuth);

  async function slowDown(address: string): Promise<void> {
    const others = waiting.get(address) ?? 0;
    if (others >= mostWaiting) return;
    waiting.set(address, others + 1);
    await wait(slowdownMilliseconds);
    const left = (waiting.get(address) ?? 1) - 1;
    if (left === 0) waiting.delete(address);
    else waiting.set(address, left);
  }
}

/** A constant-time comparison needs digests of equal length. */
function hashText(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

class WrongPassword extends Error {
  override readonly name = 'WrongPassword';
}
