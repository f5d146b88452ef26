import * as z from 'zod';
import { counted } from '../frame/counted.ts';

/** Documents without a currency: their connection shows them under “without a currency”, and no other figure includes them. */
export type NamelessKind = (typeof kinds)[number];

export type Nameless = readonly z.infer<typeof namelessRow>[];

const kinds = ['bill', 'vendor_credit', 'expense', 'refund', 'subscription'] as const;

/** The number of documents of each kind, by connection. */
export const namelessDocuments = `
select connection_id, source_type as kind, count(distinct document_id) as documents
from marts.spend_lines where currency_code is null
group by connection_id, source_type
union all
select connection_id, 'subscription', count(distinct subscription_id)
from marts.subscription_mrr_monthly
where currency_code is null and month = (select date_trunc('month', max(as_of_date))::date from marts.connections)
group by connection_id`;

export const namelessRow = z.object({
  connection_id: z.string(),
  kind: z.enum(kinds),
  documents: z.number(),
});

/** Returns the documents without a currency that the figures of a currency leave out, in words. */
export function namelessWords(
  nameless: Nameless,
  wanted: readonly NamelessKind[],
  connection: string,
): string[] {
  return countNouns(filterNameless(nameless, wanted, connection)).map(
    ({ noun, count }) => `${noun} without a currency ${count === 1 ? 'is' : 'are'} in no figure of any`,
  );
}

/** Replaces the sentence that there is nothing; undefined if there is nothing without a currency either. */
export function namelessSentence(
  nameless: Nameless,
  wanted: readonly NamelessKind[],
  connection: string,
): string | undefined {
  const counts = filterNameless(nameless, wanted, connection);
  const [first, ...others] = countNouns(counts);
  if (first === undefined) return undefined;
  const nouns = [first, ...others].map(({ noun }) => noun).join(' and ');
  const have = others.length === 0 && first.count === 1 ? 'has' : 'have';
  if (connection !== '')
    return `${nouns} ${have} no currency: choose “without a currency” to see what is known.`;
  const companies = new Set(counts.map(({ connection_id: name }) => name)).size;
  return `${nouns} of ${counted(companies, 'company', 'companies')} ${have} no currency: choose a connection to see what is known.`;
}

function filterNameless(nameless: Nameless, wanted: readonly NamelessKind[], connection: string): Nameless {
  return nameless.filter(
    ({ connection_id: name, kind }) => wanted.includes(kind) && (connection === '' || connection === name),
  );
}

function countNouns(counts: Nameless): { noun: string; count: number }[] {
  const of = (name: string, isOf: (kind: NamelessKind) => boolean): { noun: string; count: number } => {
    const count = counts.reduce((sum, { kind, documents }) => sum + (isOf(kind) ? documents : 0), 0);
    return { noun: counted(count, name), count };
  };
  return [
    of('document', (kind) => kind !== 'subscription'),
    of('subscription', (kind) => kind === 'subscription'),
  ].filter(({ count }) => count > 0);
}
