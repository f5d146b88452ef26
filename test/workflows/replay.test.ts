import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { workflowBundle } from '../../worker/workflow-bundle.ts';

const released = path.resolve(import.meta.dirname, '../released');

const histories = readdirSync(released, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.json'),
);

test('there are histories of released versions', () => {
  expect(histories.length).toBeGreaterThan(0);
});

test.each(histories)('the workflows of this release replay %s', async (file) => {
  const history: unknown = JSON.parse(readFileSync(path.join(released, file), 'utf8'));
  await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history);
});
