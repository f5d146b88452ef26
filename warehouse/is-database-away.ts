/**
 * Postgres cannot be reached, shuts down or starts up: classes 08, 53 and 57P of its errors, what the network says, and what
 * the driver says, which has no codes.
 */
export function isDatabaseAway(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return awayCode.test(codeOf(error)) || awayMessage.test(error.message);
}

const awayCode = /^(08|53|57P)|^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND)$/;
const awayMessage =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : '';
}
