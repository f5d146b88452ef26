import type { RawRecords } from '../api/platforms.ts';
import type { Company } from './company.ts';
import { accountNames, vendorNames } from './words.ts';

/**
 * Returns the raw platform record (2.1) of a bill, credit memo or expense, as JSON text: the platform's own names for it, its
 * vendor and its accounts. It is derived from the record, so the two always agree. Amounts are only in the record.
 */
export function createRawDocuments(company: Company): (kind: DocumentKind, record: string) => string {
  const vendorIds = company.ids('vendor');
  const names = namesOfAccounts(company);
  const named = (id: string | null, name: string | undefined): Named | null =>
    id === null || name === undefined ? null : { id, name };
  const write = dialects[company.platform.rawRecords];
  return (kind, record) => {
    const document = JSON.parse(record) as Document;
    const { vendor_id: vendor, account_id: account, line_items: lines } = document;
    const raw = write(kind, {
      id: document.platform_id,
      number: document.document_number ?? null,
      vendor: named(vendor, vendor === null ? undefined : vendorName(vendorIds.indexOf(vendor) ?? 0)),
      account: named(account, names.get(account)),
      lines: lines.flatMap(({ account_id: id }) => named(id, names.get(id ?? '')) ?? []),
    });
    return JSON.stringify(raw);
  };
}

export type DocumentKind = 'bill' | 'credit' | 'expense';

/** How the platforms of the sandbox write their records. */
const dialects = {
  quickbooks: (kind: DocumentKind, { id, number, vendor, account, lines }: DocumentFields): object => {
    const reference = (one: Named | null) => (one === null ? undefined : { value: one.id, name: one.name });
    return {
      Id: id,
      DocNumber: number ?? undefined,
      [kind === 'expense' ? 'EntityRef' : 'VendorRef']: reference(vendor),
      [kind === 'expense' ? 'AccountRef' : 'APAccountRef']: reference(account),
      Line: lines.map((line) => ({ AccountBasedExpenseLineDetail: { AccountRef: reference(line) } })),
    };
  },
  netsuite: (_kind: DocumentKind, { id, number, vendor, account, lines }: DocumentFields): object => {
    const reference = (one: Named | null) => (one === null ? undefined : { id: one.id, refName: one.name });
    return {
      id,
      tranId: number ?? undefined,
      entity: reference(vendor),
      account: reference(account),
      expense: { items: lines.map((line) => ({ account: reference(line) })) },
    };
  },
  xero: (_kind: DocumentKind, { id, number, vendor, lines }: DocumentFields): object => {
    return {
      ID: id,
      Reference: number ?? undefined,
      Contact: vendor === null ? undefined : { ContactID: vendor.id, Name: vendor.name },
      LineItems: lines.map((line) => ({ AccountID: line.id })),
    };
  },
  other: (_kind: DocumentKind, { id }: DocumentFields): object => ({ Id: id }),
} as const satisfies Record<RawRecords, unknown>;

function namesOfAccounts({
  payableAccounts,
  paymentAccounts,
  expenseAccounts,
}: Company): Map<string, string> {
  const zip = (ids: readonly string[], names: readonly string[]): [string, string][] =>
    ids.map((id, index) => [id, names[index] ?? `Account ${index + 1}`]);
  return new Map([
    ...zip(payableAccounts, accountNames.payable),
    ...zip(paymentAccounts, accountNames.payment),
    ...zip(expenseAccounts, accountNames.expense),
  ]);
}

/** Returns a different name for each of a company's vendors, of which there are at most 400. */
function vendorName(index: number): string {
  const { firsts, seconds } = vendorNames;
  const round = Math.floor(index / firsts.length);
  const first = firsts[index % firsts.length] ?? '';
  const second = seconds[(7 * index + round) % seconds.length] ?? '';
  return `${first} ${second}`;
}

interface Document {
  readonly platform_id: string;
  readonly document_number?: string | null;
  readonly vendor_id: string | null;
  readonly account_id: string;
  readonly line_items: readonly { readonly account_id: string | null }[];
}

interface DocumentFields {
  readonly id: string;
  readonly number: string | null;
  readonly vendor: Named | null;
  readonly account: Named | null;
  readonly lines: readonly Named[];
}

interface Named {
  readonly id: string;
  readonly name: string;
}
