import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { Settings } from '../../config/settings.ts';
import { hostOf } from '../../marts/host-of.ts';
import { noteHost } from '../../warehouse/hosts/note-host.ts';
import { watchHost } from '../../worker/hosts/watch-host.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';

const { connect, run, warehouse, databaseUrl, env, cwd } = await createInstallation({
  commandsInOneProcess: true,
});

test('an erasure reports the other hosts, the last seen first, even if they never built marts, and asks all to clear', async () => {
  const connection = await connect();
  await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[bill('to-erase')]] });
  for (let place = 1; place <= 22; place += 1)
    await noteHost(warehouse, { hostId: randomUUID(), name: `host-${place}:/data` });
  const { code, stdout } = await run(['erase', connection, 'bills', 'to-erase']);
  expect(stdout.match(/host-\d+:\/data, last seen 20/g)).toHaveLength(20);
  expect(stdout).toMatch(/host-22:.*\n.*host-21:/);
  expect(stdout).toContain('and 2 more: select * from sync.hosts');
  expect(code).toBe(0);
  expect(await rows(warehouse, 'select name from sync.hosts where clear_since is null')).toEqual([]);
});

test.each(
  some([
    {
      what: 'a file in the place of their folder',
      said: /The Iceberg tables may still hold it: Cannot use the lake .*: iceberg is a file/,
      plant: (lake: string) => writeFile(join(lake, 'iceberg'), ''),
    },
    {
      what: 'a link below it',
      said: /The Iceberg tables may still hold it: Cannot use the lake .*: iceberg\/finance\/planted is a link/,
      plant: async (lake: string) => {
        await mkdir(join(lake, 'iceberg/finance'), { recursive: true });
        await symlink(cwd, join(lake, 'iceberg/finance/planted'));
      },
    },
  ]),
)(
  'an erasure blocked in the Iceberg tables by $what still asks other hosts, reports what was done, and fails',
  async ({ plant, said }) => {
    const connection = await connect();
    await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[bill('in-the-way')]] });
    const lake = join(env.DAYBOOK_HOME ?? '', 'lake');
    await mkdir(lake, { recursive: true });
    await rm(join(lake, 'iceberg'), { recursive: true, force: true });
    await plant(lake);
    await noteHost(warehouse, { hostId: randomUUID(), name: 'last-host:/data' });
    await rows(warehouse, 'update sync.hosts set clear_since = null');
    const { code, stdout, stderr } = await run(['erase', connection, 'bills', 'in-the-way']);
    expect(stdout, stderr).toMatch(/^finance\.bills +1 +0$/m);
    expect(stdout).toContain('last-host:/data, last seen 20');
    expect(stdout).toMatch(said);
    expect(stdout).not.toContain('Erased bills in-the-way');
    expect(code).toBe(1);
    expect(await rows(warehouse, 'select name from sync.hosts where clear_since is null')).toEqual([]);
  },
);

test('a host whose lake has an obstacle clears its disk, and does not do so again', async () => {
  const home = join(cwd, 'home-of-another');
  const lake = { location: join(home, 'lake'), scratch: join(home, 'export') };
  await mkdir(lake.location, { recursive: true });
  await writeFile(join(lake.location, 'snapshots'), '');
  await mkdir(lake.scratch);
  const host = await hostOf(home);
  await noteHost(warehouse, host);
  await rows(warehouse, 'update sync.hosts set clear_since = now() where host_id = $1', [host.hostId]);
  const stopping = new AbortController();
  onTestFinished(() => {
    stopping.abort();
  });
  const settings = { database: { directUrl: databaseUrl }, lake, marts: { home } } as unknown as Settings;
  const watching = watchHost(
    { warehouse, settings },
    { logger: pino({ enabled: false }), stopping: stopping.signal },
  );
  await eventually(async () => {
    const waiting = await rows(
      warehouse,
      'select from sync.hosts where host_id = $1 and clear_since is not null',
      [host.hostId],
    );
    return waiting.length === 0 ? true : undefined;
  });
  expect(existsSync(lake.scratch)).toBe(false);
  stopping.abort();
  await watching;
});
