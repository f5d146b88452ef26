import type { Installation } from '../support/installation.ts';
import { reconcile } from '../support/reconcile.ts';
import { readIds, syncedCompany } from '../webhooks/company.ts';

/** A synced company whose records were then changed, touched and deleted in part. */
export async function changedCompany(installation: Installation): Promise<string> {
  const connection = await syncedCompany(installation);
  await installation.admin.activity({ connection, changes: 3, touches: 2, deletes: 2 });
  return connection;
}

/** A company whose reconcile waits for approval to delete 60 bills. */
export async function stoppedCompany(installation: Installation): Promise<string> {
  const connection = await emptiedCompany(installation);
  await reconcile(installation, connection);
  return connection;
}

/** A synced company that has lost so many bills that a reconcile must ask before it deletes them. */
export async function emptiedCompany(installation: Installation): Promise<string> {
  const connection = await syncedCompany(installation, { records: 300 });
  await deleteWithoutEvents(installation, connection, 60);
  return connection;
}

/** Deletes bills at the source without an event. */
export async function deleteWithoutEvents(
  installation: Installation,
  connection: string,
  count: number,
): Promise<void> {
  const ids = await readIds(installation, connection, { count });
  await installation.admin.execute(
    ...ids.map((id) => ({ kind: 'delete', connection, resource: 'bills', id, event: false }) as const),
  );
}

/** Changes bills and drops lines in the warehouse behind Daybook's back, but only of records with `updated_at`, which a backfill can read. */
export async function damage({ warehouse }: Installation, connection: string): Promise<void> {
  await warehouse.pool.query(
    `update finance.bills set total_amount = total_amount + 1
     where (connection_id, id) in (select connection_id, id from finance.bills
       where connection_id = $1 and updated_at is not null order by id desc limit 3)`,
    [connection],
  );
  await warehouse.pool.query(
    `delete from finance.item_subsidiaries where (connection_id, item_id) in
       (select connection_id, id from finance.items where connection_id = $1 and updated_at is not null)`,
    [connection],
  );
}

/** Makes the service ask once for a pause of one second. */
export async function throttleOnce({ admin }: Installation, connection: string): Promise<void> {
  await admin.addFault({
    match: { connection, path: '/accounting' },
    times: 1,
    fault: { kind: 'status', status: 429, retryAfter: '1' },
  });
}
