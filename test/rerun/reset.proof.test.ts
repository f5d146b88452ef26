import { expect, test } from 'vitest';
import { resetTo } from '../support/reset.ts';
import { startTemporalWith } from '../support/temporal-with.ts';
import { changesBetween, readContent, watermarksBehind, readWatermarks } from './warehouse-content.ts';
import { knownRuns, runsBeyond } from './ledger.ts';
import { openReruns } from './open-reruns.ts';
import { pickSample, findPoints } from './points.ts';
import { awaitWorkflow, startWorkflow } from './run-workflow.ts';

const temporalAddress = await startTemporalWith('limit.historyCount.suggestContinueAsNew=60');
const { installation, scenarios } = await openReruns({ temporalAddress });
const { warehouse } = installation;

test.for(scenarios)(
  'a workflow that is reset to any of its tasks ends as before and changes nothing: $name',
  { timeout: 1_800_000 },
  async ({ name, prepare }, { annotate }) => {
    const start = await prepare(installation);
    const known = await knownRuns(warehouse);
    const handle = await startWorkflow(installation, start);
    const ending = await awaitWorkflow(installation, handle, start);
    const runs = await runsBeyond(warehouse, known);
    const content = await readContent(warehouse);
    const watermarks = await readWatermarks(warehouse);
    const points = await findPoints(installation, handle);
    const some = pickSample(name, points, 2);
    for (const { execution, task } of some) {
      const where = `reset to task ${task}`;
      const before = await knownRuns(warehouse);
      const again = await resetTo(installation, execution, task);
      expect(await awaitWorkflow(installation, again, start), where).toBe(ending);
      expect(changesBetween(content, await readContent(warehouse)), where).toEqual([]);
      expect(await watermarksBehind(warehouse, watermarks), where).toEqual([]);
      expect(runs, where).toEqual(expect.arrayContaining(await runsBeyond(warehouse, before)));
    }
    if (start.exact !== undefined) {
      expect((await installation.compare(start.exact)).differences).toEqual([]);
    }
    await annotate(`reset to ${some.length} of ${points.length} tasks`);
  },
);
