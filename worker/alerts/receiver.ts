import type { Logger } from 'pino';
import { Agent, fetch, type Dispatcher } from 'undici';
import { codeOf } from '../../errors/code-of.ts';
import { endInformationalFloods } from '../../source/end-informational-floods.ts';
import { TimeLimitReached, withTimeLimit } from '../../source/time-limit.ts';
import type { DeliveryOutcome } from '../../warehouse/alerts/settle-delivery.ts';
import type { AlertMessage } from './alert-message.ts';

export interface Receiver {
  /** Sends a message. Never throws. Ends at once if `stopping` aborts. */
  send(message: AlertMessage, stopping: AbortSignal): Promise<DeliveryOutcome>;
}

/**
 * Opens the receiver at DAYBOOK_ALERT_URL. The address is a secret, as Slack's are, and the client's errors may quote it, so none of them
 * is passed on. An outage is logged once.
 */
export function openReceiver(settings: ReceiverSettings): Receiver {
  const { logger, deadlineMilliseconds: milliseconds = 5_000 } = settings;
  const target = parseTarget(settings);
  let down = false;
  return {
    async send(message, stopping) {
      const limit = { milliseconds, signal: stopping };
      const { outcome, problem } = await post(target, JSON.stringify(message), limit);
      if (stopping.aborted) return outcome;
      if (problem !== undefined && !down)
        logger.warn({ problem }, 'Could not send an alert to DAYBOOK_ALERT_URL; retrying.');
      if (problem === undefined && down) logger.info('Alerts reach DAYBOOK_ALERT_URL again.');
      down = problem !== undefined;
      return outcome;
    },
  };
}

interface ReceiverSettings {
  readonly url: string;
  readonly version: string;
  readonly logger: Logger;
  /** The timeout of a whole exchange. */
  readonly deadlineMilliseconds?: number;
}

interface Target {
  readonly address: URL;
  readonly headers: Record<string, string>;
  readonly dispatcher: Dispatcher;
}

/** Moves credentials from the address into a header: `fetch` refuses addresses that contain them. */
function parseTarget({ url, version }: ReceiverSettings): Target {
  const address = new URL(url);
  const { username, password } = address;
  address.username = '';
  address.password = '';
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return {
    address,
    dispatcher: new Agent().compose(endInformationalFloods()),
    headers: {
      'content-type': 'application/json',
      'user-agent': `daybook/${version}`,
      ...(username === '' ? {} : { authorization: `Basic ${credentials.toString('base64')}` }),
    },
  };
}

/** The timeout is not AbortSignal.timeout within AbortSignal.any: Node 20 loses such a timeout at the next garbage collection. */
async function post(
  { address, ...target }: Target,
  body: string,
  limit: { milliseconds: number; signal: AbortSignal },
): Promise<{ outcome: DeliveryOutcome; problem?: string }> {
  try {
    const { ok, status } = await withTimeLimit(limit, async (signal) => {
      const response = await fetch(address, { method: 'POST', redirect: 'manual', ...target, body, signal });
      await response.body?.cancel();
      return response;
    });
    return ok ? { outcome: 'delivered' } : { outcome: 'undelivered', problem: `answered ${status}` };
  } catch (error) {
    const problem = describeProblem(error, limit);
    return { outcome: notConnected.test(problem) ? 'undelivered' : 'unknown', problem };
  }
}

const notConnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

function describeProblem(error: unknown, { milliseconds }: { milliseconds: number }): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error instanceof TimeLimitReached) return `no answer within ${milliseconds / 1_000} s`;
  const code = codeOf(error.cause);
  return code === undefined ? error.name : String(code);
}
