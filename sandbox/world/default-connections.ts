import type { CommandOf } from './command.ts';

/** The connections of a new world: one for every distinct platform, one without most lists, and one that is not ready yet. */
export function defaultConnections(records: number): CommandOf<'add-connection'>[] {
  const connection = { kind: 'add-connection' as const, records, ready: true, batches: 1 };
  return [
    { ...connection, name: 'acme-us', platform: 'QUICKBOOKS' },
    { ...connection, name: 'acme-eu', platform: 'NETSUITE' },
    { ...connection, name: 'acme-uk', platform: 'XERO' },
    { ...connection, name: 'acme-subscriptions', platform: 'STRIPE' },
    { ...connection, name: 'acme-new', platform: 'QUICKBOOKS', readyAfterMs: 20_000 },
  ];
}
