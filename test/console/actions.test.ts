import { describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { setSchedule } from '../../warehouse/connections/set-schedule.ts';
import { updateSchedules } from '../../operations/schedules/update-schedules.ts';
import { eventually } from '../support/eventually.ts';
import { launchBrowser } from '../support/browser.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { proofTest } from '../support/proof-test.ts';
import { reconcile } from '../support/reconcile.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { openConsole } from './open-console.ts';

const installation = await createInstallation();
const { warehouse, client, admin } = installation;
await installation.startWorker();
const url = await openConsole(installation);
const { open } = await launchBrowser();

describe('Sync now', () => {
  test('starts the sync, says so, and shows its progress without a reload', async () => {
    const connection = await installation.connect({ records: 1_200 });
    await slowDown(connection);
    const page = await open(`${url}/connections/${connection}`);
    await page.getByRole('button', { name: 'Sync now' }).click();
    await noticeOf(page, `The sync of ${connection} has started`);
    await page.evaluate('window.sameDocument = true');
    await page
      .getByLabel('Running now')
      .getByText(/[1-9][\d,]* records/)
      .waitFor();
    await admin.clearFaults();
    await page.getByRole('row', { name: /^bills complete [1-9]/ }).waitFor();
    await page.getByLabel('Running now').waitFor({ state: 'detached' });
    expect(await page.evaluate('window.sameDocument')).toBe(true);
    expect(await runsOf(connection)).toEqual([{ kind: 'sync', status: 'succeeded', reason: 'console' }]);
  });

  proofTest('joins the running sync', async () => {
    const connection = await installation.connect({ records: 5_000 });
    await slowDown(connection);
    const page = await open(`${url}/connections/${connection}`);
    await page.getByRole('button', { name: 'Sync now' }).click();
    await page.getByRole('button', { name: 'Sync now' }).click();
    await noticeOf(page, `A sync of ${connection} runs already`);
    await noticeOf(page, 'what is at the source now');
    await admin.clearFaults();
  });

  proofTest('can be reached and pressed with the keyboard alone', async () => {
    const connection = await installation.connect();
    const page = await open(`${url}/connections/${connection}`);
    await page.keyboard.press('Tab');
    expect(await focusedText(page)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focusedText(page)).toBe('Sync now');
    await page.keyboard.press('Enter');
    await noticeOf(page, 'has started');
  });
});

describe('a page that refreshes itself', () => {
  test('keeps what is open, typed and focused', async () => {
    const connection = await installation.connect({ records: 1_200 });
    await slowDown(connection);
    const page = await open(`${url}/connections/${connection}`);
    await page.getByRole('button', { name: 'Sync now' }).click();
    await page.getByText('Pause …').click();
    await page.getByLabel('Why').fill('half a sen');
    await page
      .getByLabel('Running now')
      .getByText(/[1-9][\d,]* records/)
      .waitFor();
    expect(await page.getByLabel('Why').inputValue()).toBe('half a sen');
    expect(await page.locator('#pause-why:focus').count()).toBe(1);
    await admin.clearFaults();
  });

  proofTest('says when the server is lost, and clears the message when it is back', async () => {
    const connection = await installation.connect();
    await quarantine(connection, 'a');
    const page = await open(`${url}/connections/${connection}`);
    const lost = page.locator('#connection-lost');
    await page.context().setOffline(true);
    await lost.filter({ hasText: 'Connection to Daybook lost, trying again' }).waitFor();
    await page.context().setOffline(false);
    await lost.filter({ hasText: /^$/ }).waitFor({ state: 'attached' });
  });
});

describe('Pause and Resume', () => {
  test('pause the schedules with the reason, and resume them', async () => {
    const connection = await installation.connect();
    await setSchedule(warehouse, { connectionId: connection, syncEvery: 3_600_000 });
    await updateSchedules({ warehouse, temporal: client }, { connectionId: connection });
    const page = await open(`${url}/connections/${connection}`);
    expect(await page.locator('.facts').textContent()).toMatch(/every 1h.*Next runin \d+ (min|s)/);
    await page.getByText('Pause …').click();
    await page.getByLabel('Why').fill('month end');
    await page.getByRole('button', { name: 'Pause schedules' }).click();
    await noticeOf(page, `${connection} is paused. Running work continues.`);
    const schedule = client.schedule.getHandle(`sync/${connection}`);
    expect((await schedule.describe()).state).toMatchObject({
      paused: true,
      note: 'Paused by Daybook: month end',
    });
    expect(await page.locator('.facts').textContent()).toContain('month end');
    await page.getByRole('button', { name: 'Resume' }).click();
    await noticeOf(page, `${connection} is resumed.`);
    expect((await schedule.describe()).state.paused).toBe(false);
  });
});

describe('deletions beyond the limit', () => {
  test('are deleted once they are approved', async () => {
    const connection = await installation.connect();
    await sync(installation, connection);
    await quietlyDelete(connection, 60);
    await reconcile(installation, connection);
    const page = await open(`${url}/connections/${connection}`);
    await page.getByText('Approve the deletions …').click();
    await page.getByRole('button', { name: 'Delete 60 records' }).click();
    await noticeOf(page, `The reconcile of ${connection} has started`);
    await eventually(async () => {
      const { deleted } = await row(
        warehouse,
        'select count(*) as deleted from finance.deleted_records where connection_id = $1',
        [connection],
      );
      return deleted === 60 ? deleted : undefined;
    });
    await page.getByText('deletions wait for approval').waitFor({ state: 'detached' });
  });

  proofTest('are refused from a page that shows fewer than now wait', async () => {
    const connection = await installation.connect();
    await sync(installation, connection);
    await quietlyDelete(connection, 60);
    await reconcile(installation, connection);
    // A page as it was in a browser that slept; an open page refreshes itself.
    const html = await (await fetch(`${url}/connections/${connection}`)).text();
    const [, shown = ''] = /name="shown" value="(bills 60 [^"]+)"/.exec(html) ?? [];
    const more = await quietlyDelete(connection, 55, 60);
    await reconcile(installation, connection);
    const action = `/connections/${connection}/approve-deletions`;
    expect(noticeIn(await post(action, new URLSearchParams({ shown }).toString()))).toContain(
      'What is waiting now is not what was approved: 115 bills wait',
    );
    // An approval that names no records approves none.
    expect(noticeIn(await post(action))).toContain('the approval did not name any');
    expect(await (await fetch(`${url}/connections/${connection}`)).text()).toContain('value="bills 115 ');
    const held = await rows(warehouse, 'select id from finance.bills where connection_id = $1', [connection]);
    expect(held.map(({ id }) => String(id))).toEqual(expect.arrayContaining(more));
    expect(await runsOf(connection)).toHaveLength(3);
  });

  proofTest('are refused if none wait any more', async () => {
    const connection = await installation.connect();
    const response = await post(`/connections/${connection}/approve-deletions`);
    expect(response.status).toBe(303);
    expect(decodeURIComponent(response.headers.get('set-cookie') ?? '')).toContain(
      `refused No deletions of ${connection} wait for approval any more.`,
    );
    expect(await runsOf(connection)).toEqual([]);
  });
});

describe('the quarantine', () => {
  test("replays the chosen entries in the service's current version", async () => {
    const connection = await installation.connect();
    await quarantine(connection, 'a', 'b');
    await admin.execute({
      kind: 'add',
      connection,
      resource: 'bills',
      record: bill('a', { memo: '"mended"' }),
    });
    const page = await open(`${url}/quarantine?connection=${connection}`);
    await page
      .getByRole('row', { name: /bills a / })
      .getByRole('checkbox')
      .check();
    await page.getByRole('button', { name: 'Replay chosen' }).click();
    await noticeOf(page, '1 landed, 0 no longer needed, 0 still open.');
    expect(await entriesOf(connection)).toEqual([
      { record_id: 'a', status: 'landed', closed_why: 'a good version arrived' },
      { record_id: 'b', status: 'open', closed_why: null },
    ]);
  });

  proofTest('discards the chosen entries, with the reason', async () => {
    const connection = await installation.connect();
    await quarantine(connection, 'a');
    const page = await open(`${url}/quarantine?connection=${connection}`);
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Discard chosen' }).click();
    await noticeOf(page, 'Say why the records are not wanted');
    await page.goto(`${url}/quarantine?connection=${connection}`);
    await page.getByRole('checkbox').check();
    await page.getByLabel('Why discard').fill('test data');
    await page.getByRole('button', { name: 'Discard chosen' }).click();
    await noticeOf(page, '1 entry discarded.');
    expect(await entriesOf(connection)).toEqual([
      { record_id: 'a', status: 'discarded', closed_why: 'test data' },
    ]);
  });

  test('does not discard a version of a record other than the page showed', async () => {
    const connection = await installation.connect();
    await quarantine(connection, 'a');
    const page = await open(`${url}/quarantine?connection=${connection}`);
    await land(warehouse, {
      connectionId: connection,
      stream: 'bills',
      pages: [[bill('a', { memo: '8', last_synced_at: '"2031-01-01T00:00:00Z"' })]],
    });
    await page.getByRole('checkbox').check();
    await page.getByLabel('Why discard').fill('test data');
    await page.getByRole('button', { name: 'Discard chosen' }).click();
    await noticeOf(page, 'Another form of the chosen records has arrived since this page was shown');
    expect(await entriesOf(connection)).toEqual([{ record_id: 'a', status: 'open', closed_why: null }]);
  });

  proofTest('says so if nothing is chosen', async () => {
    const response = await post('/quarantine/discard', 'why=tidy&entry=nonsense');
    expect(decodeURIComponent(response.headers.get('set-cookie') ?? '')).toContain(
      'Choose at least one entry first.',
    );
  });
});

/** Puts bills in quarantine, with a number as their memo. */
async function quarantine(connectionId: string, ...ids: string[]): Promise<void> {
  await land(warehouse, { connectionId, stream: 'bills', pages: [ids.map((id) => bill(id, { memo: '7' }))] });
}

/** Slows the connection down, so that a sync is seen while it runs. */
async function slowDown(connection: string): Promise<void> {
  await admin.addFault({ match: { connection }, fault: { kind: 'slow', ms: 700 } });
}

function noticeIn(response: Response): string {
  return decodeURIComponent(response.headers.get('set-cookie') ?? '');
}

/** Deletes bills at the source without an event, beginning with number `start`. */
async function quietlyDelete(connection: string, count: number, start = 0): Promise<string[]> {
  const held = await rows(
    warehouse,
    'select id from finance.bills where connection_id = $1 order by id offset $2 limit $3',
    [connection, start, count],
  );
  const ids = held.map(({ id }) => String(id));
  await admin.execute(
    ...ids.map((id) => ({ kind: 'delete', connection, resource: 'bills', id, event: false }) as const),
  );
  return ids;
}

async function noticeOf(page: Page, text: string): Promise<void> {
  await page.locator('.notice').filter({ hasText: text }).waitFor();
}

function focusedText(page: Page): Promise<unknown> {
  return page.evaluate('document.activeElement.textContent');
}

function post(path: string, body = ''): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: url },
    body,
  });
}

function runsOf(connection: string): Promise<Row[]> {
  return rows(warehouse, 'select kind, status, reason from sync.runs where connection_id = $1', [connection]);
}

function entriesOf(connection: string): Promise<Row[]> {
  return rows(
    warehouse,
    'select record_id, status, closed_why from sync.quarantine where connection_id = $1 order by record_id',
    [connection],
  );
}
