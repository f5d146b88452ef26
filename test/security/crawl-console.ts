import { actions, actionsOfService } from '../../server/console/actions.ts';
import type { Place } from './find-planted.ts';
import { secrets } from './planted.ts';

/**
 * Requests every page that a link of the console leads to, every form with and without its required values, and refused requests. Returns
 * heads and bodies.
 */
export async function crawlConsole(url: string): Promise<Place[]> {
  const pages = await followLinks(url);
  const forms = Object.keys({ ...actions, ...actionsOfService }).map((path) =>
    path.replace(':connection', 'acme'),
  );
  const answers = await Promise.all([
    ...forms.flatMap((path) => [ask(url, path, post('')), ask(url, path, post('why=planted&id=1&id=999'))]),
    ask(url, '/runs', { headers: { authorization: basic(secrets.wrongPassword) } }),
    ask(url, `/nothing?${secrets.token}`, { headers: { cookie: `session=${secrets.awkwardToken.length}` } }),
    ...['/healthz', '/readyz', '/metrics', '/webhooks'].map((path) => ask(url, path, { headers: {} })),
  ]);
  return [...pages, ...answers];
}

async function followLinks(url: string): Promise<Place[]> {
  const waiting = ['/'];
  const seen = new Map<string, Place>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const place = await ask(url, path, { headers: { authorization: basic(secrets.consolePassword) } });
    seen.set(path, place);
    const links = [...String(place.content).matchAll(/href="(\/[^"#]*)"/g)].map(([, link = '']) =>
      link.replaceAll('&amp;', '&'),
    );
    waiting.push(...links.filter((link) => !seen.has(link) && !link.startsWith('/assets/')));
  }
  return [...seen.values()];
}

async function ask(url: string, path: string, init: RequestInit): Promise<Place> {
  const response = await fetch(url + path, { ...init, redirect: 'manual' });
  const head = [...response.headers].map((header) => header.join(': ')).join('\n');
  return {
    name: `${init.method ?? 'GET'} ${path}`,
    content: `${response.status}\n${head}\n${await response.text()}`,
  };
}

function post(body: string): RequestInit {
  return {
    method: 'POST',
    headers: {
      authorization: basic(secrets.consolePassword),
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    },
    body,
  };
}

function basic(password: string): string {
  return `Basic ${Buffer.from(`ops:${password}`).toString('base64')}`;
}
