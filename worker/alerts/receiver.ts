import type { Logger } from 'pino';
import { codeOf } from '../../errors/code-of.ts';
import type { Told } from '../../warehouse/alerts/settle-delivery.ts';
import type { AlertMessage } from './alert-message.ts';

/** Who is told of alerts. */
export interface Receiver {
  /** Never throws; an abort of `stopping` ends it at once. */
  tell(message: AlertMessage, stopping: AbortSignal): Promise<Told>;
}

/**
 * The receiver at DAYBOOK_ALERT_URL. The address is a secret, as Slack's are, so no error of the client is passed on: it may
 * quote the address. An outage is logged once.
 */
export function openReceiver(settings: { url: string; version: string; logger: Logger }): Receiver {
  const { logger } = settings;
  const { address, headers } = targetOf(settings);
  let down = false;
  return {
    async tell(message, stopping) {
      const { told, problem } = await post(address, {
        headers,
        body: JSON.stringify(message),
        signal: AbortSignal.any([stopping, AbortSignal.timeout(deadlineMilliseconds)]),
      });
      if (stopping.aborted) return told;
      if (problem !== undefined && !down)
        logger.warn({ problem }, 'DAYBOOK_ALERT_URL could not be told of an alert; it is tried again.');
      if (problem === undefined && down) logger.info('DAYBOOK_ALERT_URL is told of alerts again.');
      down = problem !== undefined;
      return told;
    },
  };
}

const deadlineMilliseconds = 5_000;

/** Credentials in an address are for a header: `fetch` refuses such addresses. */
function targetOf({ url, version }: { url: string; version: string }): {
  address: URL;
  headers: Record<string, string>;
} {
  const address = new URL(url);
  const { username, password } = address;
  address.username = '';
  address.password = '';
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return {
    address,
    headers: {
      'content-type': 'application/json',
      'user-agent': `daybook/${version}`,
      ...(username === '' ? {} : { authorization: `Basic ${credentials.toString('base64')}` }),
    },
  };
}

async function post(
  address: URL,
  request: { headers: Record<string, string>; body: string; signal: AbortSignal },
): Promise<{ told: Told; problem?: string }> {
  try {
    const response = await fetch(address, { method: 'POST', redirect: 'manual', ...request });
    await response.body?.cancel();
    return response.ok ? { told: 'told' } : { told: 'not told', problem: `answered ${response.status}` };
  } catch (error) {
    const problem = problemOf(error);
    return { told: notConnected.test(problem) ? 'not told' : 'perhaps', problem };
  }
}

const notConnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  const code = codeOf(cause);
  if (code !== undefined) return String(code);
  return error.name === 'TimeoutError' ? 'no answer within 5 s' : error.name;
}
