import { expect, test } from 'vitest';
import { readWebhook } from '../../source/read-webhook.ts';

// The document names these entities differently: it does not spell out `<ENTITY>` of webhooks (6.2), but that of events (4.6).
test.each([
  ['BILL', 'bill', 'bills'],
  ['EXPENSE', 'expense', 'expenses'],
  ['BILL_CREDIT_MEMO', 'bill_credit_memo', 'bill_credit_memos'],
  ['CUSTOMER', 'customer', 'customers'],
  ['ACCOUNTING_CUSTOMER', 'accounting_customer', 'customers'],
  ['ACCOUNTING_CUSTOMER', 'customer', 'customers'],
  ['ITEM', 'item', 'items'],
  ['ITEMS', 'items', 'items'],
  ['ITEMS', 'item', 'items'],
])('a webhook of type %s with the record under %s belongs to %s', (type, member, resource) => {
  const body = `{"type":"${type}","code":"${type}_UPDATED","access_token":"t","connection_id":"c","${member}":{"id":"7"}}`;
  expect(readWebhook(Buffer.from(body))).toMatchObject({ resource: { name: resource }, recordId: '7' });
});

test.each(['INVOICE', 'COMMERCE_CUSTOMER', 'SUBSCRIPTION', 'CONNECTION', ''])(
  'a webhook of type %s belongs to no copied resource',
  (type) => {
    const body = `{"type":"${type}","connection_id":"c","customer":{"id":"7"},"item":{"id":"7"}}`;
    expect(readWebhook(Buffer.from(body))).toMatchObject({ resource: null, recordId: null });
  },
);
