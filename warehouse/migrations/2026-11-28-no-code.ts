import { sql, type Kysely } from 'kysely';

/** Where the API sends an empty text or the word null for a code, the column is null, and its comment says so. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(comments).execute(db);
}

const comments = `
  comment on column finance.bills.currency_code is
    'Currency of every amount of the bill (ISO 4217); an empty text and the word null mean none: null';
  comment on column finance.expenses.currency_code is
    'Currency of every amount of the expense (ISO 4217); an empty text and the word null mean none: null';
  comment on column finance.bill_credit_memos.currency_code is
    'Currency of every amount of the credit memo (ISO 4217); an empty text and the word null mean none: null';
  comment on column finance.customers.currency_code is
    'Currency of the customer (ISO 4217); an empty text and the word null mean none: null';
  comment on column finance.items.code is 'Reference code; an empty text and the word null mean none: null';
  comment on column finance.subscriptions.iso_currency_code is
    'Currency of every amount of the subscription (ISO 4217); an empty text and the word null mean none: null';
  comment on column history.subscription_item_versions.iso_currency_code is
    'Currency of every amount of the subscription (ISO 4217); an empty text and the word null mean none: null';
`;
