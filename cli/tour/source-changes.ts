/** What happened at the source while nobody looked. */
export interface SourceChanges {
  changed: number;
  /** Ids of deleted bills: of the first an event tells, of the second nothing does. */
  announced: string;
  unannounced: string;
}

/** Lets a day pass at a company of the sandbox, through the sandbox's admin interface. */
export async function changeSource(adminUrl: string, connection: string): Promise<SourceChanges> {
  const activity = { connection, seed: Date.now(), changes: 2 };
  const { commands } = (await post(`${adminUrl}/activity`, activity)) as { commands: unknown[] };
  const bills = await (await ok(fetch(`${adminUrl}/content/${connection}/bills?limit=2`))).text();
  const [announced = '', unannounced = ''] = bills
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { id: string }).id);
  await post(`${adminUrl}/commands`, [
    { kind: 'delete', connection, resource: 'bills', id: announced },
    { kind: 'delete', connection, resource: 'bills', id: unannounced, event: false },
  ]);
  return { changed: commands.length, announced, unannounced };
}

async function post(url: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const response = await ok(fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }));
  return response.json();
}

async function ok(pending: Promise<Response>): Promise<Response> {
  const response = await pending;
  if (!response.ok) throw new Error(`The sandbox answered ${response.status} to ${response.url}.`);
  return response;
}
