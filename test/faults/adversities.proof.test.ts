import { expect, test } from 'vitest';
import { startDaybook } from '../support/daybook-process.ts';
import { createInstallation } from '../support/installation.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { adversities } from './adversities.ts';
import { prove } from './prove.ts';

const database = await createTestDatabase();
const installation = await createInstallation({ database });
const { admin, cwd, env } = installation;
await admin.configure({ maximumLimit: 10 });
await installation.startWorker();

test.each(adversities)(
  'a sync reports this fault, continues once it is over, and leaves an exact copy: $fault',
  async ({ fault, strike, words }) => {
    const connection = await installation.connect({ records: 60 });
    await admin.addFault({
      match: { connection, path: '/accounting/bills' },
      after: 1,
      times: 1,
      fault: { kind: 'slow', ms: 3_000 },
    });
    const typed = startDaybook(['sync', connection], { cwd, env });
    await typed.says(/Running:/);
    const end = await strike({ admin, adminUrl: database.adminUrl, connection });
    try {
      await typed.says(words);
    } finally {
      await end();
    }
    expect((await typed.ended).code).toBe(0);
    expect((await installation.compare(connection)).differences).toEqual([]);
    const [seen = ''] = words.exec(typed.output()) ?? [];
    await prove({ fault, during: 'a sync', survived: 'it goes on when that is over', seen });
  },
);
