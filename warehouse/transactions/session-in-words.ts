/** A session, for people. What it calls itself is its own choice, and may be read where text can be markup: plain characters alone, and no more than a few. */
export function sessionInWords({ pid, application }: { pid: number; application: string | null }): string {
  const plain = (application ?? '').slice(0, 40).replace(/[^\w .-]/g, '?');
  return `session ${pid}${plain === '' ? '' : `, ${plain}`}`;
}
