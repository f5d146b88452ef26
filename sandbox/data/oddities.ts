import { joinMembers, splitMembers } from '../json/members.ts';
import type { ResourceName } from '../api/resources.ts';
import { dice } from './dice.ts';
import type { RecordSource } from './record-source.ts';
import type { ChaosProfile } from './chaos-profile.ts';
import { futureOddities } from './future-oddities.ts';
import { nastyOddities } from './nasty-oddities.ts';
import type { Oddity } from './oddity.ts';

/** Returns the same records, some of them written in an awkward way: always the same way for the same record. */
export function withOddities(
  source: RecordSource,
  resource: ResourceName,
  profile: ChaosProfile,
): RecordSource {
  const oddities = (profile === 'nasty' ? nastyOddities : profile === 'future' ? futureOddities : []).filter(
    ({ patch }) => patch[resource] !== undefined,
  );
  if (oddities.length === 0) return source;
  const every = profile === 'nasty' ? 100 : 20;
  const chance = dice(`${profile}/${source.ids.at(0)}`);
  return {
    ...source,
    render(index, lastSyncedAt) {
      const text = source.render(index, lastSyncedAt);
      const number = chance(index);
      if (number % every !== 0) return text;
      return apply(text, oddities[(number >>> 8) % oddities.length], resource);
    },
  };
}

function apply(text: string, oddity: Oddity | undefined, resource: ResourceName): string {
  const patch = oddity?.patch[resource];
  if (patch === undefined) return text;
  const members = splitMembers(text);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, value);
  }
  return joinMembers(members);
}
