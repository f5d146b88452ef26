import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { noteHost } from '../../warehouse/hosts/note-host.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';

const { connect, run, warehouse } = await createInstallation();

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
