import { expect, test } from 'vitest';
import { startDaybook } from '../support/daybook-process.ts';
import { createInstallation } from '../support/installation.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { lastingFaults } from './lasting-faults.ts';
import { prove } from './prove.ts';

const database = await createTestDatabase();
const installation = await createInstallation({ database });
const { admin, cwd, env } = installation;
await admin.configure({ maximumLimit: 10 });
await installation.startWorker();

test.each(lastingFaults)(
  'a sync reports this fault, continues once it is over, and leaves an exact copy: $fault',
  async ({ fault, inject, message }) => {
    const connection = await installation.connect({ records: 60 });
    await admin.addFault({
      match: { connection, path: '/accounting/bills' },
      after: 1,
      times: 1,
      fault: { kind: 'slow', ms: 3_000 },
    });
    const command = startDaybook(['sync', connection], { cwd, env });
    await command.waitForOutput(/Running:/);
    const end = await inject({ admin, adminUrl: database.adminUrl, connection });
    try {
      await command.waitForOutput(message);
    } finally {
      await end();
    }
    expect((await command.ended).code).toBe(0);
    expect((await installation.compare(connection)).differences).toEqual([]);
    const [seen = ''] = message.exec(command.output()) ?? [];
    await prove({ fault, during: 'a sync', survived: 'it goes on when that is over', seen });
  },
);
