import type { Alert } from '../../warehouse/alerts/read-alerts.ts';

/** What DAYBOOK_ALERT_URL receives. `text` stands alone: that is what Slack shows, and so it is escaped as Slack wants it. */
export interface AlertMessage {
  readonly text: string;
  readonly event: 'open' | 'resolve';
  readonly alert: {
    /** Null for the database, which cannot number its own absence. */
    readonly id: number | null;
    readonly kind: ToldKind;
    readonly connection: string | null;
    readonly message: string;
    readonly remedy: string;
    readonly opened_at: Date;
    readonly resolved_at: Date | null;
  };
}

export type ToldKind = Alert['kind'] | 'database';

export type ToldAlert = Omit<Alert, 'id' | 'kind'> & { id: number | null; kind: ToldKind };

export function alertMessage({ connection_id: connection, ...alert }: ToldAlert): AlertMessage {
  const { kind, message, remedy, resolved_at: resolvedAt } = alert;
  const text =
    resolvedAt === null
      ? `Daybook: ${message} What to do: ${remedy}`
      : `Daybook: over: ${connection === null ? '' : `${connection}: `}${over[kind]} It was: ${message}`;
  return {
    text: escaped(text),
    event: resolvedAt === null ? 'open' : 'resolve',
    alert: { ...alert, connection },
  };
}

/** A failure may hold words of others, and Slack takes `<!channel>` and `<https://…|words>` for markup. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** What is true once an alert is over, in whatever way it ended. */
const over: Record<ToldKind, string> = {
  failed: 'no newest run has failed, or the connection has paused itself.',
  paused: 'it was resumed, or a person keeps it paused.',
  stale: 'it is complete again, or not to be.',
  stalled: 'no stream has stalled.',
  unsupported: 'every list of what is held answers, or is asked for again.',
  approval: 'nothing waits for approval.',
  quarantine: 'no record of the last 24 hours is in quarantine.',
  webhooks: 'no webhook waits too long.',
  stuck: 'workers go on with every workflow.',
  missed: 'what was not started was made up for.',
  backlog: 'no work waits for a worker for long.',
  export: 'no newest export has failed.',
  marts: 'no newest build of marts has failed.',
  database: 'Postgres answers, and is written again.',
};
