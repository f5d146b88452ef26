import { Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { workflowBundle } from '../../worker/workflow-bundle.ts';
import { releasedHistories } from '../support/released-histories.ts';

const histories = releasedHistories();

test('every release has left histories', () => {
  expect(new Set(histories.map(({ version }) => version)).size).toBeGreaterThanOrEqual(5);
});

test.each(histories)('the workflows of this release replay $name of $version', async ({ history }) => {
  await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history);
});
