import {
  amount,
  currency,
  createdAt,
  enumeration,
  id,
  integer,
  price,
  quantity,
  recordKey,
  updatedAt,
} from './columns.ts';
import type { Resource } from './resource.ts';

/**
 * API document 2.8, 4.5. The one resource without `last_synced_at`, `sort`, `expand`, fetch and events: its versions are compared by
 * `updated_at`, and only a complete listing shows deletions.
 */
export const subscriptions: Resource = {
  name: 'subscriptions',
  singular: 'subscription',
  listPath: '/subscriptions',
  fetchable: false,
  namesCompany: false,
  eventName: null,
  webhookName: null,
  version: 'updated_at',
  streams: [{ name: 'subscriptions', query: {}, floorParameter: 'updated_at_min' }],
  comment: 'Subscriptions: recurring purchases',
  columns: [
    ...recordKey,
    id('platform_customer_id', 'ID of the customer on the platform'),
    currency('iso_currency_code', 'Currency of every amount of the subscription (ISO 4217)'),
    enumeration('status', 'active, in_trial, canceled, paused, unknown; new values may appear'),
    createdAt,
    updatedAt,
  ],
  children: [
    {
      table: 'subscription_items',
      parentKey: 'subscription_id',
      from: 'items',
      comment: 'Items of subscriptions',
      columns: [
        id('platform_id', 'ID of the item on the platform'),
        enumeration('interval', 'Unit of the billing period: day, week, month, year; any text may appear'),
        integer('interval_count', 'How many intervals one billing period has'),
        quantity('quantity', 'How many are subscribed to'),
        amount('amount', 'Price of one billing period, in iso_currency_code'),
        price('unit_amount', 'Price of one, in iso_currency_code'),
      ],
    },
  ],
};
