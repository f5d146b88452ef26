import { randomUUID } from 'node:crypto';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noteHost } from '../../warehouse/hosts/note-host.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';

const { connect, run, warehouse, env, cwd } = await createInstallation();

test('an erasure names every other host, the last seen first, whether it ever built marts or not', async () => {
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

test('an erasure that something stands in the way of in Iceberg tables asks other hosts all the same, says what was done, and fails', async () => {
  const connection = await connect();
  await land(warehouse, { connectionId: connection, stream: 'bills', pages: [[bill('in-the-way')]] });
  const tables = join(env.DAYBOOK_HOME ?? '', 'lake/iceberg/finance');
  await mkdir(tables, { recursive: true });
  await symlink(cwd, join(tables, 'planted'));
  await rows(warehouse, 'update sync.hosts set clear_since = null');
  const { code, stdout, stderr } = await run(['erase', connection, 'bills', 'in-the-way']);
  expect(stdout, stderr).toMatch(/^finance\.bills +1 +0$/m);
  expect(stdout).toContain('host-22:/data, last seen 20');
  expect(stdout).toMatch(
    /The Iceberg tables may still hold it: The lake .* refuses: iceberg\/finance\/planted is a link/,
  );
  expect(stdout).not.toContain('Erased in-the-way');
  expect(code).toBe(1);
  expect(await rows(warehouse, 'select name from sync.hosts where clear_since is null')).toEqual([]);
});
