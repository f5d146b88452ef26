import { describe, expect, test } from 'vitest';
import { streamNamed } from '../../resources/index.ts';
import { LeaseLost } from '../../warehouse/errors.ts';
import { restartPass } from '../../warehouse/passes/restart-pass.ts';
import { bill, subscription } from '../support/finance-records.ts';
import { land, landRecords, openPass } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

const tenMinutes = 600_000;

describe('a refused cursor', () => {
  test('restarts the pass at the highest version seen minus the lookback', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await landRecords(warehouse, { pass, records: [billAt('2024-02-05T00:10:00Z')], nextCursor: 'page-2' });
    await restartPass(warehouse, {
      pass,
      ...streamNamed('bills'),
      lookbackMilliseconds: tenMinutes,
      why: 'cursor refused',
    });
    const { taken } = await openPass(warehouse, { connectionId, stream: 'bills' });
    expect(taken).toMatchObject({
      state: 'open',
      cursor: null,
      floorMilliseconds: Date.parse('2024-02-05T00:00:00Z'),
    });
  });

  test('never restarts the pass below its floor', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[billAt('2024-02-01T00:10:00Z')]] });
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await landRecords(warehouse, { pass, records: [billAt('2024-02-01T00:05:00Z')], nextCursor: 'page-2' });
    await restartPass(warehouse, {
      pass,
      ...streamNamed('bills'),
      lookbackMilliseconds: tenMinutes,
      why: 'cursor refused',
    });
    const { taken } = await openPass(warehouse, { connectionId, stream: 'bills' });
    expect(taken).toMatchObject({ cursor: null, floorMilliseconds: Date.parse('2024-02-01T00:00:00Z') });
  });

  test('restarts subscriptions, which have no order, at their old floor', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'subscriptions' });
    await landRecords(warehouse, { pass, records: [subscription('s')], nextCursor: 'page-2' });
    await restartPass(warehouse, {
      pass,
      ...streamNamed('subscriptions'),
      lookbackMilliseconds: tenMinutes,
      why: 'cursor refused',
    });
    const { taken } = await openPass(warehouse, { connectionId, stream: 'subscriptions' });
    expect(taken).toMatchObject({ state: 'open', cursor: null, floorMilliseconds: null });
  });

  test('restarts the pass at its old floor when no page has landed', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[billAt('2024-02-01T00:10:00Z')]] });
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await restartPass(warehouse, {
      pass,
      ...streamNamed('bills'),
      lookbackMilliseconds: tenMinutes,
      why: 'cursor refused',
    });
    const { taken } = await openPass(warehouse, { connectionId, stream: 'bills' });
    expect(taken).toMatchObject({ floorMilliseconds: Date.parse('2024-02-01T00:00:00Z') });
  });

  test('is counted within a run, and anew in the next', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    const restart = {
      ...streamNamed('bills'),
      lookbackMilliseconds: tenMinutes,
      why: 'cursor refused' as const,
    };
    expect(await restartPass(warehouse, { pass, ...restart })).toBe(1);
    expect(await restartPass(warehouse, { pass, ...restart })).toBe(2);
    const { pass: later } = await openPass(warehouse, { connectionId, stream: 'bills' });
    expect(await restartPass(warehouse, { pass: later, ...restart })).toBe(1);
    await expect(restartPass(warehouse, { pass, ...restart })).rejects.toThrow(LeaseLost);
  });
});

function billAt(lastSyncedAt: string): string {
  return bill('b', { last_synced_at: `"${lastSyncedAt}"` });
}
