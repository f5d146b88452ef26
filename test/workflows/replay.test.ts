import { Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { workflowBundle } from '../../worker/workflow-bundle.ts';
import { oldestAndNewest } from '../support/proof-test.ts';
import { releasedHistories } from '../support/released-histories.ts';

const histories = releasedHistories();
const versions = [...new Set(histories.map(({ version }) => version))];
const replayed = oldestAndNewest(versions);

test('every release has left histories', () => {
  expect(versions.length).toBeGreaterThanOrEqual(6);
});

test.each(histories.filter(({ version }) => replayed.includes(version)))(
  'the workflows of this release replay $name of $version',
  async ({ history }) => {
    await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history);
  },
);
