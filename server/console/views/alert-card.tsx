import type { VNode } from 'preact';
import type { Alert } from '../../../warehouse/alerts/read-alerts.ts';
import { Icon } from '../../frame/icon.tsx';
import { Moment } from '../../frame/moment.tsx';
import { paths } from '../../frame/paths.ts';

/** An alert and its remedy. */
export function AlertCard({ alert, now }: { alert: Alert; now: Date }): VNode {
  const { id, kind, connection_id: connection, message, remedy, opened_at } = alert;
  return (
    <article class="alert" id={`alert-${id}`}>
      <Icon name="warning" />
      <div>
        <h2>
          {connection === null ? null : <a href={paths.connection(connection)}>{connection}</a>} {kind}
        </h2>
        <p>{message}</p>
        <p class="remedy">{remedy}</p>
      </div>
      <p class="aside">
        <Moment at={opened_at} now={now} />
      </p>
    </article>
  );
}
