import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { registry } from '../../worker/metrics.ts';
import { launchBrowser } from '../support/browser.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { createInstallation } from '../support/installation.ts';
import { row } from '../support/rows.ts';
import { openConsole } from './open-console.ts';

const installation = await createInstallation();
const { warehouse } = installation;
const password = 'open sesame – ü';
const connection = await installation.connect();
const url = await openConsole(installation);
const guarded = await openConsole(installation, { consolePassword: password });
const { open } = await launchBrowser();

describe('cookies that a page of another port sets', () => {
  test.each([8, 40])(
    'cannot lock a person out, %i of them: the browser is told why, and to clear them',
    async (count) => {
      const bomb = Array.from(
        { length: count },
        (_, i) => `c${i}=${'x'.repeat(3_500)}; Path=/; Max-Age=999999`,
      );
      const site = createServer((_request, response) => {
        response.setHeader('set-cookie', bomb);
        response.end();
      }).listen(0, '127.0.0.1');
      await once(site, 'listening');
      onTestFinished(() => {
        site.close();
      });
      const page = await open(`http://127.0.0.1:${(site.address() as AddressInfo).port}`);
      const refused = await page.goto(url);
      expect(refused?.status()).toBe(431);
      expect(await refused?.text()).toContain('clear the cookies of this host');
      // The browser does this while it loads the page.
      await expect.poll(() => page.context().cookies(url)).toEqual([]);
      expect((await page.reload())?.status()).toBe(200);
    },
  );
});

describe('a change requested by another site', () => {
  test('from the browser of an authorized person is refused, and nothing is done', async () => {
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<form method="post" action="${url}/connections/${connection}/pause"><input name="why" value="evil"><button>Win</button></form>`,
      );
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    onTestFinished(() => {
      site.close();
    });
    const page = await open(`http://127.0.0.1:${(site.address() as AddressInfo).port}`);
    await page.getByRole('button').click();
    await page.getByText('This came from another site, so nothing was done.').waitFor();
    expect(await pausedWhy()).toBeNull();
  });

  test.each([
    ['cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['same-site', { 'sec-fetch-site': 'same-site' }],
    ['cross-site with the right origin', { 'sec-fetch-site': 'cross-site', origin: url }],
    ['from another origin', { origin: 'http://evil.example' }],
    ['from no origin', { origin: 'null' }],
    ['from nowhere', {}],
  ])('%s is a 403', async (_name, headers: Record<string, string>) => {
    expect((await pause(url, headers)).status).toBe(403);
    expect(await pausedWhy()).toBeNull();
  });

  test('is not available as a GET', async () => {
    for (const action of ['sync', 'reconcile', 'pause', 'resume', 'approve-deletions'])
      expect((await fetch(`${url}/connections/${connection}/${action}`)).status, action).toBe(404);
  });

  test.each([
    ['by its origin, where browsers say no more', (own: string) => ({ origin: own })],
    ['by what browsers say on loopback', () => ({ 'sec-fetch-site': 'same-origin' })],
  ])("is told from one of the console's own %s", async (_name, headers) => {
    expect((await pause(url, headers(url))).status).toBe(303);
    expect(await pausedWhy()).toBe('evil');
    await warehouse.pool.query(
      'update sync.connections set paused_at = null, paused_why = null, paused_by = null',
    );
  });
});

describe('a page requested by another site', () => {
  test.each([
    ['cross-site', 'cors', 'empty', 403],
    ['cross-site', 'no-cors', 'image', 403],
    ['same-site', 'no-cors', 'empty', 403],
    ['cross-site', 'navigate', 'iframe', 403],
    ['cross-site', 'navigate', 'document', 200],
    ['same-site', 'navigate', 'document', 200],
    ['none', 'navigate', 'document', 200],
    ['same-origin', 'cors', 'empty', 200],
  ])('%s, %s, for %s: %i', async (site, mode, destination, status) => {
    const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination };
    const asked = request(url, { headers }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(status);
  });

  test("is refused to the site's scripts, and opens from a link", async () => {
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<a href="${url}/runs">Runs</a>`);
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    onTestFinished(() => {
      site.close();
    });
    const page = await open(`http://127.0.0.1:${(site.address() as AddressInfo).port}`);
    const answered = page.waitForResponse(`${url}/runs`);
    await page.evaluate((address) => fetch(address, { mode: 'no-cors' }), `${url}/runs`);
    expect((await answered).status()).toBe(403);
    await page.getByRole('link').click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
  });
});

describe('without a password', () => {
  test.each(['evil.example', 'evil.example:8390', '127.0.0.1.evil.example', 'localhost.evil.example'])(
    'a foreign host name that resolves to this machine (%s) is refused',
    async (host) => {
      const { status, text } = await askAs(host);
      expect(status).toBe(403);
      expect(text).not.toContain(connection);
    },
  );

  test.each(['localhost:1', '127.0.0.1:8390', '[::1]:8390', 'LOCALHOST'])('%s is served', async (host) => {
    expect((await askAs(host)).status).toBe(200);
  });
});

describe('with a password', () => {
  test('the console requires it, under any user name', async () => {
    const anonymous = await fetch(guarded);
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('www-authenticate')).toContain('Basic realm="Daybook"');
    expect(await anonymous.text()).not.toContain(connection);
    for (const user of ['', 'ops', 'anybody else'])
      expect((await fetch(guarded, { headers: basic(user, password) })).status, user).toBe(200);
  });

  test.each(['/', '/runs', '/webhooks', '/nothing', '/assets/console.css'])(
    '%s is 401 without it',
    async (path) => {
      expect((await fetch(guarded + path)).status).toBe(401);
    },
  );

  test.each(['/healthz', '/readyz', '/metrics'])('%s requires none', async (path) => {
    expect((await fetch(guarded + path)).status).toBe(200);
  });

  test('a wrong one is refused slowly, and counted', async () => {
    const before = await refusedPasswords();
    const started = performance.now();
    expect((await fetch(guarded, { headers: basic('ops', 'open') })).status).toBe(401);
    expect(performance.now() - started).toBeGreaterThan(450);
    expect(await refusedPasswords()).toBe(before + 1);
  });

  test('does not admit a cross-site request', async () => {
    const headers = { ...basic('ops', password), 'sec-fetch-site': 'cross-site' };
    expect((await pause(guarded, headers)).status).toBe(403);
  });

  test('a browser that has it shows the pages and can act', async () => {
    const page = await open(`${guarded}/connections/${connection}`, {
      httpCredentials: { username: 'ops', password },
    });
    await page.getByText('Pause …').click();
    await page.getByLabel('Why').fill('holidays');
    await page.getByRole('button', { name: 'Pause schedules' }).click();
    await page
      .locator('.notice')
      .filter({ hasText: `${connection} is paused.` })
      .waitFor();
  });
});

describe.each(['serve', 'worker', 'up'])('daybook %s', (command) => {
  test('refuses to listen beyond loopback without a password', async () => {
    const { code, stderr } = await installation.run([command], { env: { DAYBOOK_HTTP_HOST: '0.0.0.0' } });
    expect(code).toBe(2);
    expect(stderr).toContain('DAYBOOK_CONSOLE_PASSWORD is required when DAYBOOK_HTTP_HOST is 0.0.0.0.');
  });
});

test('daybook serve serves the console, and asks for the password it was given', async () => {
  const { cwd, env } = installation;
  const serving = startDaybook(['serve'], { cwd, env: { ...env, DAYBOOK_CONSOLE_PASSWORD: password } });
  await serving.waitForOutput(/Serving at http\S+\./);
  const [own = ''] = /http\S+(?=\. Stop)/.exec(serving.output()) ?? [];
  expect((await fetch(own)).status).toBe(401);
  const page = await fetch(own, { headers: basic('ops', password) });
  expect(await page.text()).toContain(connection);
  expect(serving.output()).not.toContain(password);
  await serving.stop();
});

describe('a notice', () => {
  const paused = installation.connect();
  const shownWith = async (cookie: string): Promise<string> =>
    (await fetch(`${url}/connections/${await paused}`, { headers: { cookie } })).text();

  test('is shown by another process of the same warehouse, despite a forged one before it', async () => {
    const cookie = await noticeOfPause();
    expect(await shownWith(cookie)).toContain(`${await paused} is paused. Running work continues.`);
    const shadowed = await shownWith(`daybook_notice=done%20Call%20555; ${cookie}`);
    expect(shadowed).toContain(`${await paused} is paused. Running work continues.`);
    expect(shadowed).not.toContain('Call 555');
  });

  test('forged in a cookie, as other ports on the host can, is not shown', async () => {
    const cookie = await noticeOfPause();
    for (const forged of [
      'daybook_notice=done%20Call%20555',
      `daybook_notice=${'A'.repeat(43)}%20${Date.now() + 60_000}%20done%20Call%20555`,
      cookie.replace('is%20paused', 'Call%20555'),
      'daybook_notice=%E0%A4%A',
    ])
      expect(await shownWith(forged), forged).not.toMatch(/Call 555|class="notice/);
  });

  test('is not shown a minute later', async () => {
    const cookie = await noticeOfPause();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    expect(await shownWith(cookie)).not.toContain('is paused. Running work continues.');
  });

  /** Pauses as a browser would. Another console of the warehouse answers, as another process would. */
  async function noticeOfPause(): Promise<string> {
    const other = await openConsole(installation);
    const response = await fetch(`${other}/connections/${await paused}/pause`, {
      method: 'POST',
      headers: { origin: other },
      body: new URLSearchParams({ why: 'month end' }),
      redirect: 'manual',
    });
    return (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  }
});

async function pausedWhy(): Promise<unknown> {
  const { paused_why: why } = await row(
    warehouse,
    'select paused_why from sync.connections where connection_id = $1',
    [connection],
  );
  return why;
}

/** Posts the form as a browser does, except for the origin. */
async function pause(to: string, headers: Record<string, string>): Promise<{ status: number }> {
  const { port } = new URL(to);
  return send({
    method: 'POST',
    port,
    path: `/connections/${connection}/pause`,
    body: 'why=evil',
    headers: { host: new URL(to).host, 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
}

function askAs(host: string): Promise<{ status: number; text: string }> {
  return send({ method: 'GET', port: new URL(url).port, path: '/', body: '', headers: { host } });
}

/** Sends a request without fetch, which sets the headers that matter here itself. */
async function send(asked: {
  method: string;
  port: string;
  path: string;
  body: string;
  headers: Record<string, string>;
}): Promise<{ status: number; text: string }> {
  const { body, ...options } = asked;
  const sent = request({ host: '127.0.0.1', ...options });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response) text += String(part);
  return { status: response.statusCode ?? 0, text };
}

function basic(user: string, secret: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}` };
}

async function refusedPasswords(): Promise<number> {
  const metric = registry.getSingleMetric('daybook_console_passwords_refused_total');
  const [value] = (await metric?.get())?.values ?? [];
  return value?.value ?? 0;
}
