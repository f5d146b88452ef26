import { test } from 'vitest';
import { isDatabaseAway } from '../../warehouse/session/is-database-away.ts';
import { plannedKills, describeKills, faultAt } from './planned-kills.ts';
import type { Kill } from './commit-killer.ts';
import { lastFaultMessage } from './last-fault-message.ts';
import { phases } from './phases.ts';
import type { Row } from './proof-table.ts';
import { prove } from './prove.ts';
import { retryUntilDone } from './retry-until-done.ts';
import { openWorld } from './world.ts';

const world = await openWorld(() => plannedKills);
const survived = new Map<string, Survived>();
let turn = 0;
let counted = 0;

test.each(phases)(
  'a kill of any process at any of its commits leaves the same result: $name',
  { timeout: 3_600_000 },
  async ({ name: during, run }) => {
    const { kills, recovered } = world.commitKiller;
    const name = await connectCompany();
    await retryUntilDone(world, ['sync', name]);
    let last: number;
    do {
      last = kills.length;
      turn += 1;
      world.errorOutputs.length = 0;
      await run(world, { name, turn });
      await recovered();
      for (const kill of kills.slice(counted)) {
        const known = survived.get(kill.point) ?? {
          during,
          kills: [],
          seen: lastFaultMessage(world.errorOutputs),
        };
        survived.set(kill.point, { ...known, kills: [...known.kills, kill] });
      }
      counted = kills.length;
    } while (kills.length > last);
    await prove(...[...survived].map(buildRow));
  },
);

/** Background work of the processes commits too, and a kill of Postgres there may hit the test's own session. */
async function connectCompany(): Promise<string> {
  for (;;) {
    await world.commitKiller.recovered();
    try {
      // Each round deletes some of its records.
      return await world.connect({ records: 300 });
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
    }
  }
}

function buildRow([point, { during, kills, seen }]: [string, Survived]): Row {
  return { fault: faultAt(point), during, survived: describeKills(kills), seen };
}

interface Survived {
  readonly during: string;
  readonly kills: readonly Kill[];
  readonly seen: string;
}
