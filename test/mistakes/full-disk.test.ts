import { expect, test, vi } from 'vitest';
import { startReceiver } from '../alerts/alert-receiver.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { startSync } from '../support/sync.ts';

vi.setConfig({ testTimeout: 120_000 });

// Only the database may fail here: a stream whose requests failed would be given up at once.
const installation = await createInstallation({ env: { DAYBOOK_GIVE_UP_AFTER: '0s' } });
const { warehouse } = installation;

test('a disk too full for records causes an alert within seconds, and the sync continues once there is room', async () => {
  const receiver = await startReceiver();
  await installation.startWorker({ DAYBOOK_ALERT_URL: receiver.url });
  const name = await installation.connect({ records: 20 });
  await warehouse.pool.query(`
    create function public.no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
    create trigger no_room before insert on finance.bills execute function public.no_room()`);
  const run = await startSync(installation, name);

  const [opened] = await receiver.gets(1);
  expect(opened).toMatchObject({ event: 'open', alert: { kind: 'database', connection: null } });
  expect(opened!.text).toContain('(its disk is full)');
  const said = await eventually(async () => {
    const { stdout } = await installation.run(['status', name]);
    return stdout.includes('retrying: ') ? stdout : undefined;
  });
  expect(said).toContain('The warehouse cannot be written: its disk is full.');

  await warehouse.pool.query('drop function public.no_room cascade');
  await expect(run.result()).resolves.toMatchObject({ status: 'succeeded' });
});
