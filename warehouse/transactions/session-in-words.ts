/** Describes a session for people. It chooses its own name, which may be shown where text can be markup, so only a few plain characters are kept. */
export function sessionInWords({ pid, application }: { pid: number; application: string | null }): string {
  const plain = (application ?? '').slice(0, 40).replace(/[^\w .-]/g, '?');
  return `session ${pid}${plain === '' ? '' : `, ${plain}`}`;
}
