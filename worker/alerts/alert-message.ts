import type { Alert } from '../../warehouse/alerts/read-alerts.ts';

/** The message that DAYBOOK_ALERT_URL receives. Slack shows `text` alone, so it is escaped as Slack requires. */
export interface AlertMessage {
  readonly text: string;
  readonly event: 'open' | 'resolve';
  readonly alert: {
    /** Null for the alert about the database, which cannot number its own absence. */
    readonly id: number | null;
    readonly kind: AnyAlertKind;
    readonly connection: string | null;
    readonly message: string;
    readonly remedy: string;
    readonly opened_at: Date;
    readonly resolved_at: Date | null;
  };
}

export type AnyAlertKind = Alert['kind'] | 'database';

/** A stored alert, or the one about the database, which is kept in memory and has no number. */
export type AnyAlert = Omit<Alert, 'id' | 'kind'> & { id: number | null; kind: AnyAlertKind };

export function alertMessage({ connection_id: connection, ...alert }: AnyAlert): AlertMessage {
  const { kind, message, remedy, resolved_at: resolvedAt } = alert;
  const text =
    resolvedAt === null
      ? `Daybook: ${message} What to do: ${remedy}`
      : `Daybook: resolved: ${connection === null ? '' : `${connection}: `}${over[kind]} The alert was: ${message}`;
  return {
    text: escaped(text),
    event: resolvedAt === null ? 'open' : 'resolve',
    alert: { ...alert, connection },
  };
}

/** Escapes text for Slack: a failure may quote foreign text, and Slack treats `<!channel>` and `<https://…|words>` as markup. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The sentence for a closed alert, true however it ended. */
const over: Record<AnyAlertKind, string> = {
  failed: 'its newest runs did not fail, or the connection has paused itself.',
  paused: 'it was resumed, or a person keeps it paused.',
  stale: 'it is complete again, or no longer scheduled.',
  stalled: 'no stream has stalled.',
  unsupported: 'every list with stored records answers again, or is being retried.',
  approval: 'nothing waits for approval.',
  quarantine: 'no record of the last 24 hours is in quarantine.',
  webhooks: 'no webhook waits too long.',
  stuck: 'workers continue every workflow.',
  missed:
    'the affected connections have synced since, are paused or no longer scheduled, or a day has passed.',
  backlog: 'no work waits for a worker for long.',
  export: 'the newest export did not fail.',
  marts: 'the newest builds of the marts did not fail.',
  database: 'Postgres answers, and accepts writes again.',
};
