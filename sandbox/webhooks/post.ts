import type { Pool } from 'undici';

/** Sends a body once. Only a 2xx status is a success; if there is no status, the result says why. Never throws. */
export async function post(pool: Pool, message: Message): Promise<PostResult> {
  const { pathname, search } = new URL(message.address);
  try {
    const signal = AbortSignal.timeout(message.timeoutMs);
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: pathname + search,
      headers: {
        'content-type': 'application/json',
        ...(message.signature !== null && { 'x-service-signature': message.signature }),
      },
      body: message.body,
      signal,
    });
    await body.dump({ limit: 65_536, signal });
    return { status: statusCode, error: null, delivered: statusCode >= 200 && statusCode < 300 };
  } catch (error) {
    return { status: null, error: error instanceof Error ? error.message : 'Unknown.', delivered: false };
  }
}

export interface Message {
  readonly address: string;
  readonly body: string;
  /** The header's value; null sends none. */
  readonly signature: string | null;
  readonly timeoutMs: number;
}

export interface PostResult {
  readonly status: number | null;
  readonly error: string | null;
  readonly delivered: boolean;
}
