import { test } from 'vitest';
import { deaths, deathsInWords, faultAt } from './deaths.ts';
import type { Killing } from './executioner.ts';
import { lastWords } from './last-words.ts';
import { phases } from './phases.ts';
import type { Row } from './proof-table.ts';
import { prove } from './prove.ts';
import { typeUntilDone } from './user.ts';
import { openWorld } from './world.ts';

const world = await openWorld(() => deaths);
const survived = new Map<string, Survived>();
let turn = 0;
let counted = 0;

test.each(phases)(
  'a kill of any process at any of its commits leaves the same result: $name',
  { timeout: 3_600_000 },
  async ({ name: during, live }) => {
    const { died, recovered } = world.executioner;
    await recovered();
    // Each round deletes some of its records.
    const name = await world.connect({ records: 300 });
    await typeUntilDone(world, ['sync', name]);
    let last: number;
    do {
      last = died.length;
      turn += 1;
      world.heard.length = 0;
      await live(world, { name, turn });
      await recovered();
      for (const killing of died.slice(counted)) {
        const known = survived.get(killing.point) ?? { during, killings: [], seen: lastWords(world.heard) };
        survived.set(killing.point, { ...known, killings: [...known.killings, killing] });
      }
      counted = died.length;
    } while (died.length > last);
    await prove(...[...survived].map(rowOf));
  },
);

function rowOf([point, { during, killings, seen }]: [string, Survived]): Row {
  return { fault: faultAt(point), during, survived: deathsInWords(killings), seen };
}

interface Survived {
  readonly during: string;
  readonly killings: readonly Killing[];
  readonly seen: string;
}
