import { linkColumns } from './allocations.ts';
import {
  code,
  decimalText,
  enumeration,
  lastSyncedAt,
  platformData,
  quantity,
  recordKey,
  text,
  updatedAt,
} from './columns.ts';
import type { Resource } from './resource.ts';

/** API document 2.7, 4.5. */
export const items: Resource = {
  name: 'items',
  singular: 'item',
  listPath: '/accounting/items',
  fetchable: true,
  namesCompany: true,
  eventName: 'ITEMS',
  webhookName: 'ITEM',
  version: 'last_synced_at',
  streams: [{ name: 'items', query: { sort: 'last_synced_at ASC' }, floorParameter: 'last_synced_at_min' }],
  comment: 'Items: goods and services the business sells',
  columns: [
    ...recordKey,
    enumeration('status', 'active, archived, unknown; new values may appear'),
    enumeration('type', 'inventory, non_inventory, service, discount, unknown; new values may appear'),
    code('code', 'Reference code'),
    text('name', 'Name'),
    quantity('quantity_on_hand', 'Stock; only meaningful for inventory, some platforms only'),
    text('bill_description', 'Description on the purchase side', ['bill_item', 'description']),
    decimalText('bill_unit_price', 'Price of one on the purchase side', ['bill_item', 'unit_price']),
    text('invoice_description', 'Description on the sales side', ['invoice_item', 'description']),
    decimalText('invoice_unit_price', 'Price of one on the sales side', ['invoice_item', 'unit_price']),
    updatedAt,
    lastSyncedAt,
    platformData,
  ],
  children: [
    {
      table: 'item_subsidiaries',
      parentKey: 'item_id',
      from: 'subsidiaries',
      comment: 'Subsidiaries that items belong to',
      columns: linkColumns,
    },
  ],
};
