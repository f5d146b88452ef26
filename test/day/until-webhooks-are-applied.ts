import { setTimeout as wait } from 'node:timers/promises';
import type { TestServers } from '../support/own-servers.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';

/** Waits until the last webhooks were delivered and applied, for `seconds` at most. A stored webhook is applied within 30 s. */
export async function untilWebhooksAreApplied(
  { admin, warehouse }: Pick<TestServers, 'warehouse'> & { readonly admin: SandboxAdmin },
  { seconds }: { seconds: number },
): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  while (performance.now() < deadline) {
    const { waiting } = await admin.deliveries();
    const { rows } = await warehouse.pool.query(
      `select from sync.webhook_inbox where status = 'waiting' limit 1`,
    );
    if (waiting === 0 && rows.length === 0) return;
    await wait(500);
  }
}
