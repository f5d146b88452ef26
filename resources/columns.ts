import { columnKinds, type Column, type ColumnKind } from './resource.ts';

type ColumnOfKind = (name: string, comment: string, path?: Column['path']) => Column;

function columnOfKind(kind: ColumnKind): ColumnOfKind {
  const noneWords = columnKinds[kind].nullWord ? '; an empty text and the word null mean none: null' : '';
  return (name, comment, path = [name]) => ({ name, kind, path, comment: `${comment}${noneWords}` });
}

/** One function per kind, so that a descriptor reads as a list of columns: `amount('amount_due', '…')`. */
export const id = columnOfKind('id');
/** An ID or a list of IDs, which lands as JSON text. */
export const ids = columnOfKind('ids');
export const text = columnOfKind('text');
export const enumeration = columnOfKind('enum');
export const code = columnOfKind('code');
export const currency = columnOfKind('currency');
export const date = columnOfKind('date');
export const time = columnOfKind('time');
export const amount = columnOfKind('amount');
export const quantity = columnOfKind('quantity');
export const price = columnOfKind('price');
export const rate = columnOfKind('rate');
export const decimalText = columnOfKind('decimalText');
export const integer = columnOfKind('integer');
export const object = columnOfKind('object');

/** Fields that every accounting record carries (API document 2.2 to 2.7). */
export const recordKey: readonly Column[] = [
  id('id', 'Service ID of the record'),
  id('platform_id', 'ID of the record on the accounting platform'),
];

export const updatedAt = time(
  'updated_at',
  'Last change on the platform, by the platform clock; may be null',
);
export const createdAt = time('created_at', 'Creation on the platform, by the platform clock; may be null');
export const lastSyncedAt = time('last_synced_at', 'Last sync by the service, by the service clock');
export const platformData = object(
  'platform_data',
  'The raw platform record; null unless the connection was added with --expand-platform-data',
);
