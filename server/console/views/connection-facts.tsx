import type { VNode } from 'preact';
import type { WebhookStatus } from '../../../warehouse/webhooks/read-webhook-status.ts';
import type { ConnectionReport } from '../../../operations/connection-reports.ts';
import { everyInWords } from '../../../operations/demand-words.ts';
import { counted } from '../../frame/counted.ts';
import { Moment } from '../../frame/moment.tsx';
import { Facts } from './facts.tsx';

/** The identity of a connection, and its schedule. */
export function ConnectionFacts({ report, now }: { report: ConnectionReport; now: Date }): VNode {
  const {
    platform,
    org_id,
    every_seconds: every,
    stretch,
    next_run_at: next,
    paused,
    failures,
    troubles,
    webhooks,
  } = report;
  return (
    <Facts
      of={{
        Platform: platform,
        Organization: org_id === null ? null : <code>{org_id}</code>,
        Synced: every === null ? 'on request' : everyInWords({ every_seconds: every, stretch }),
        'Next run': next === null ? null : <Moment at={next} now={now} />,
        Paused:
          paused === null ? null : (
            <>
              {paused.why}{' '}
              <span class="aside">
                <Moment at={paused.since} now={now} />
              </span>
            </>
          ),
        'By webhooks, 24 h': webhooks.last_received_at === null ? null : byWebhooks(webhooks),
        Retrying: troubles.length === 0 ? null : troubles.join(' '),
        'Failures in a row': failures === 0 ? null : String(failures),
      }}
    />
  );
}

/** The number of changes that webhooks announced within the last 24 hours. */
function byWebhooks({ applied_24h: applied, unannounced_24h: unannounced }: WebhookStatus): string {
  const told = counted(applied, 'record');
  return unannounced === 0 ? told : `${told}; ${unannounced.toLocaleString('en-US')} came without one`;
}
