import {
  currency,
  enumeration,
  id,
  lastSyncedAt,
  platformData,
  recordKey,
  text,
  updatedAt,
} from './columns.ts';
import type { Resource } from './resource.ts';

/** API document 2.6, 4.5. */
export const customers: Resource = {
  name: 'customers',
  singular: 'customer',
  listPath: '/accounting/customers',
  fetchable: true,
  namesCompany: true,
  eventName: 'ACCOUNTING_CUSTOMER',
  webhookName: 'CUSTOMER',
  version: 'last_synced_at',
  streams: [
    { name: 'customers', query: { sort: 'last_synced_at ASC' }, floorParameter: 'last_synced_at_min' },
  ],
  comment: 'Customers: persons and companies that buy from the business',
  columns: [
    ...recordKey,
    id('parent_id', 'Parent customer; one class of platforms only'),
    id('subsidiary_id', 'Subsidiary; one class of platforms only'),
    enumeration('status', 'ACTIVE, INACTIVE, UNKNOWN; new values may appear'),
    text('contact_name', 'Primary contact'),
    currency('currency_code', 'Currency of the customer (ISO 4217)'),
    text('customer_name', 'Business name'),
    text('email', 'E-mail address'),
    text('phone', 'Telephone number'),
    text('registration_number', 'Registration number'),
    text('tax_number', 'Tax number'),
    updatedAt,
    lastSyncedAt,
    platformData,
  ],
  children: [
    {
      table: 'customer_addresses',
      parentKey: 'customer_id',
      from: 'addresses',
      comment: 'Addresses of customers',
      columns: [
        enumeration('type', 'Kind of address, for example billing or shipping; any text may appear'),
        text('address1', 'First line'),
        text('address2', 'Second line'),
        text('city', 'City'),
        text('country', 'Country'),
        text('postal_code', 'Postal code'),
        text('region', 'Region'),
      ],
    },
  ],
};
