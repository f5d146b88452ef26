import { expect, test } from 'vitest';
import { openApiBudget } from '../../warehouse/api-budget/api-budget.ts';
import { openConsole, settingsOf } from '../console/open-console.ts';
import { createInstallation } from '../support/installation.ts';

test('commands and the console say until when the finance API asked for no requests', async () => {
  const installation = await createInstallation();
  const { env, warehouse, run } = installation;
  await installation.connect();
  const url = await openConsole(installation);
  const { api } = settingsOf(env);
  const said = 'the finance API has answered 429 and asked for no requests until ';
  expect((await run(['status'])).stdout).not.toContain(said);
  expect(JSON.parse((await run(['status', '--json'])).stdout)).toMatchObject({ api_silent_until: null });

  const budget = openApiBudget(warehouse, { apiAddress: api.address, ...api });
  await budget.reportRateLimited(600_000);

  expect((await run(['status'])).stdout).toContain(`API: ${said}`);
  const { api_silent_until: until } = JSON.parse((await run(['status', '--json'])).stdout) as {
    api_silent_until: string;
  };
  expect(new Date(until).getTime() - Date.now()).toBeGreaterThan(500_000);
  expect((await run(['doctor'])).stdout).toContain(`${said}${until}`);
  expect(await (await fetch(url)).text()).toContain(`${said}${until}`);
});
