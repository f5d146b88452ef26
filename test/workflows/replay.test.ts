import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Worker } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { workflowBundle } from '../../worker/workflow-bundle.ts';

const released = path.resolve(import.meta.dirname, '../released');
const versions = readdirSync(released).filter((name) => name.startsWith('v'));

describe.each(versions)('%s', (version) => {
  const folder = path.join(released, version, 'histories');
  const histories = readdirSync(folder).filter((file) => file.endsWith('.json'));

  test('has left histories', () => {
    expect(histories.length).toBeGreaterThan(0);
  });

  test.each(histories)('the workflows of this release replay %s', async (file) => {
    const history: unknown = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
    await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history);
  });
});
