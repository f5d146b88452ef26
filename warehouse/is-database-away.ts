/** Postgres cannot be reached, shuts down or starts up: classes 08, 53 and 57P of its errors, and what the network says. */
export function isDatabaseAway(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && away.test(error.code);
}

const away = /^(08|53|57P)|^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND)$/;
