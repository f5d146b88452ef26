import { expect, test } from 'vitest';
import { resourceNames, resources, streamNamed, streams } from '../../resources/index.ts';

test('the resources are those of the glossary', () => {
  expect(resourceNames).toEqual([
    'bills',
    'expenses',
    'bill_credit_memos',
    'customers',
    'items',
    'subscriptions',
  ]);
});

test('expenses are read twice, as expenses and as refunds, and every other resource once', () => {
  expect(streams.map(({ stream, resource }) => [stream.name, resource.name])).toEqual([
    ['bills', 'bills'],
    ['expenses', 'expenses'],
    ['refunds', 'expenses'],
    ['bill_credit_memos', 'bill_credit_memos'],
    ['customers', 'customers'],
    ['items', 'items'],
    ['subscriptions', 'subscriptions'],
  ]);
  expect(streamNamed('expenses').stream.query).toMatchObject({ expense_type: 'expense' });
  expect(streamNamed('refunds').stream.query).toMatchObject({ expense_type: 'refund' });
});

test('every list is filtered by its watermark field, and sorted by it if the API can sort it', () => {
  for (const { stream, resource } of streams) {
    expect(stream.floorParameter).toBe(`${resource.version}_min`);
    expect(stream.query.sort).toBe(resource.name === 'subscriptions' ? undefined : 'last_synced_at ASC');
  }
});

test('every table and column has a comment, and no table has two columns of the same name', () => {
  const tables = resources.flatMap((resource) => [resource, ...resource.children]);
  for (const { columns, comment } of tables) {
    expect(comment).not.toBe('');
    expect(columns.filter((column) => column.comment === '')).toEqual([]);
    expect(new Set(columns.map(({ name }) => name)).size).toBe(columns.length);
  }
});

test('an unknown stream throws an error that names the streams there are', () => {
  expect(() => streamNamed('invoices')).toThrow(
    'There is no stream invoices; the streams are bills, expenses,',
  );
});
