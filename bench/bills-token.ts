import type { Changes } from './bill-pages.ts';

/** What the page server serves a connection. Without a change, lists that ask for what is new are empty. */
export interface ServedBills extends Changes {
  readonly name: string;
}

/** The access token says it all, so that the page server keeps nothing: `1000000-one`, `1000000-one-1000-3`. */
export function billsToken({ bills, name, changed, revision }: ServedBills): string {
  return [bills, name, changed, revision].join('-');
}

export function parseBillsToken(token: string): ServedBills {
  const [bills = '0', name = '', changed = '0', revision = '0'] = token.split('-');
  return { bills: Number(bills), name, changed: Number(changed), revision: Number(revision) };
}
