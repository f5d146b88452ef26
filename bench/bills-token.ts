import type { Changes } from './bill-pages.ts';

/** The bills that the page server serves to a connection. Without a change, lists of new records are empty. */
export interface ServedBills extends Changes {
  readonly name: string;
}

/** Returns an access token that encodes everything, so that the page server keeps no state: `1000000-one`, `1000000-one-1000-3`. */
export function billsToken({ bills, name, changed, revision }: ServedBills): string {
  return [bills, name, changed, revision].join('-');
}

export function parseBillsToken(token: string): ServedBills {
  const [bills = '0', name = '', changed = '0', revision = '0'] = token.split('-');
  return { bills: Number(bills), name, changed: Number(changed), revision: Number(revision) };
}
