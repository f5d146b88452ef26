import { expect, test } from 'vitest';
import { startDaybook } from '../support/daybook-process.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';

// Nothing works on what is started here, so it goes on until it is ended.
const installation = await createInstallation();
const { client } = installation;

test('a sync that ended before it began is null as JSON, with a sentence beside it, and exits with 1', async () => {
  const connection = await installation.connect();
  const { cwd, env } = installation;
  const following = startDaybook(['sync', connection, '--json'], { cwd, env });
  await eventually(async () => {
    await client.workflow.getHandle(`sync/${connection}`).terminate();
    return 'terminated';
  });
  const { code, stdout, stderr } = await following.ended;
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: 'null\n',
    stderr: 'The run ended before it began; see it in Temporal.\n',
  });
});
