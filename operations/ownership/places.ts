import type { Client } from '@temporalio/client';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { Settings } from '../../config/settings.ts';

/** A warehouse and the namespace that it should own. */
export interface OwnershipPlaces {
  readonly warehouse: Warehouse;
  readonly temporal: Client;
  readonly settings: Pick<Settings, 'database' | 'temporal' | 'api'>;
}

/** Undefined in a process without a configured API, which starts nothing that would call one. */
export function apiAddressOf({ api }: OwnershipPlaces['settings']): string | undefined {
  return api.url === '' ? undefined : api.address;
}

/** Host, port and name of the database, as configured. */
export function databaseNameOf({ database }: OwnershipPlaces['settings']): string {
  const { hostname, host, port, pathname, searchParams } = new URL(database.url);
  const server = hostname === '' ? `${searchParams.get('host') ?? 'localhost'}${port}` : host;
  return `${server}${decodeURIComponent(pathname)}`;
}
