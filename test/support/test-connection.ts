import { randomBytes } from 'node:crypto';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';

export const testKey: Buffer = Buffer.alloc(32, 'k');
export const testApiAddress = 'https://api.example.com/versioned';

/** Adds a connection and returns its name. Each test adds its own, so that none sees what another landed. */
export async function addTestConnection(
  warehouse: Warehouse,
  connectionId = `test-${randomBytes(6).toString('hex')}`,
): Promise<string> {
  await addConnection(warehouse, testKey, {
    connectionId,
    apiAddress: testApiAddress,
    token: `token of ${connectionId}`,
    expandPlatformData: false,
  });
  return connectionId;
}
