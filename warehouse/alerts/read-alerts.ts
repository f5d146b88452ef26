import type { Warehouse } from '../open-warehouse.ts';
import type { AlertKind } from '../tables/alerts.ts';

/** A problem that needs, or needed, a person. */
export interface Alert {
  id: number;
  kind: AlertKind;
  /** Null: the alert concerns no single connection. */
  connection_id: string | null;
  /** The problem, in a sentence or two. */
  message: string;
  /** The remedy, with the command. */
  remedy: string;
  opened_at: Date;
  /** Null: still open. */
  resolved_at: Date | null;
}

const alertColumns = [
  'id',
  'kind',
  'connection_id',
  'message',
  'remedy',
  'opened_at',
  'resolved_at',
] as const;

/** Reads the open alerts, the oldest first: all of them, or those of one connection. */
export async function readOpenAlerts(
  { db }: Warehouse,
  connectionId?: string,
  { limit }: { limit?: number } = {},
): Promise<Alert[]> {
  let query = db
    .selectFrom('sync.alerts')
    .select(alertColumns)
    .where('resolved_at', 'is', null)
    .orderBy('opened_at')
    .orderBy('id');
  if (connectionId !== undefined) query = query.where('connection_id', '=', connectionId);
  if (limit !== undefined) query = query.limit(limit);
  return query.execute();
}

/** Reads the alerts, open or resolved, the newest first. */
export async function readAlerts({ db }: Warehouse, { limit }: { limit: number }): Promise<Alert[]> {
  return db
    .selectFrom('sync.alerts')
    .select(alertColumns)
    .orderBy('opened_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
