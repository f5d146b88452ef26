import { Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { workflowBundle } from '../../worker/workflow-bundle.ts';
import { oldestAndNewest } from '../support/proof-test.ts';
import { releasedHistories } from '../support/released-histories.ts';

const histories = releasedHistories();
const versions = [...new Set(histories.map(({ version }) => version))];
const chosenVersions = oldestAndNewest(versions);
const chosen = histories.filter(({ version }) => chosenVersions.includes(version));
const replayed = new Map<string, Error | undefined>();

/** Uses one worker, because each one builds its isolate anew. */
beforeAll(async () => {
  const asked = chosen.map(({ version, name, history }) => ({ workflowId: `${version}/${name}`, history }));
  const options = { workflowBundle: await workflowBundle() };
  for await (const { workflowId, error } of Worker.runReplayHistories(options, asked))
    replayed.set(workflowId, error);
});

test('at least six releases have recorded histories', () => {
  expect(versions.length).toBeGreaterThanOrEqual(6);
});

test.each(chosen)('the workflows of this release replay $name of $version', ({ version, name }) => {
  expect([...replayed.keys()]).toContain(`${version}/${name}`);
  expect(replayed.get(`${version}/${name}`)).toBeUndefined();
});
