import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import basicAuth from '@fastify/basic-auth';
import type { FastifyInstance } from 'fastify';
import { Counter } from 'prom-client';
import { registry } from '../../../worker/metrics.ts';

const refused = new Counter({
  name: 'daybook_console_passwords_refused_total',
  help: 'Requests to the console with a wrong password',
  registers: [registry],
});

const slowdownMilliseconds = 500;
/** So many guesses are answered in one slowdown; the others are not even looked at. */
const mostAtOnce = 20;

/** HTTP Basic with any user name, for the routes of this server. Guessing is slow, and counted. */
export async function checkPassword(server: FastifyInstance, password: string): Promise<void> {
  const right = digestOf(password);
  let waiting = 0;
  await server.register(basicAuth, {
    authenticate: { realm: 'Daybook' },
    async validate(_user, given) {
      const looked = waiting < mostAtOnce;
      if (looked && timingSafeEqual(digestOf(given), right)) return;
      refused.inc();
      if (!looked) throw new WrongPassword();
      waiting += 1;
      await wait(slowdownMilliseconds).finally(() => {
        waiting -= 1;
      });
      throw new WrongPassword();
    },
  });
  server.addHook('onRequest', server.basicAuth);
}

/** Of one length, as a comparison in constant time needs. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

class WrongPassword extends Error {
  override readonly name = 'WrongPassword';
}
