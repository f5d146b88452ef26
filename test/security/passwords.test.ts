import { Agent, request } from 'undici';
import { afterAll, describe, expect, test } from 'vitest';
import { openConsole } from '../console/open-console.ts';
import { createInstallation } from '../support/installation.ts';

const installation = await createInstallation();
const password = 'twelve or more of them';
const url = await openConsole(installation, { consolePassword: password });
const [one, other] = ['127.0.0.2', '127.0.0.3'].map(
  (localAddress) => new Agent({ connections: 100, localAddress }),
);
afterAll(() => Promise.all([one?.close(), other?.close()]));

describe('during a constant stream of wrong passwords', () => {
  test("the right password is accepted from the attackers' address and from another one", async () => {
    const guesses = Array.from({ length: 60 }, (_, number) => ask(`guess number ${number}`, one));
    for (const from of [one, other]) {
      const started = performance.now();
      expect(await ask(password, from)).toBe(200);
      expect(performance.now() - started).toBeLessThan(5_000);
    }
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]));
  });

  test('a wrong password from another address is still answered slowly', async () => {
    const guesses = Array.from({ length: 60 }, (_, number) => ask(`guess number ${number}`, one));
    const started = performance.now();
    for (let time = 0; time < 3; time += 1) expect(await ask('wrong, but rarely', other)).toBe(401);
    // Half a second each, less the lag of a busy event loop when it sets its timer.
    expect(performance.now() - started).toBeGreaterThan(1_000);
    await Promise.all(guesses);
  });
});

test.each(['p', 'elevenchars'])(
  'a password as short as "%s" is a configuration error: exit 2',
  async (short) => {
    const { code, stderr } = await installation.run(['serve'], { env: { DAYBOOK_CONSOLE_PASSWORD: short } });
    expect(code).toBe(2);
    expect(stderr).toContain('DAYBOOK_CONSOLE_PASSWORD must have at least 12 characters.');
  },
);

async function ask(given: string, dispatcher: Agent | undefined): Promise<number> {
  const { statusCode, body } = await request(url, {
    ...(dispatcher === undefined ? {} : { dispatcher }),
    headers: { authorization: `Basic ${Buffer.from(`ops:${given}`).toString('base64')}` },
  });
  await body.dump();
  return statusCode;
}
