/** Which snapshots are kept: `7 last, 30 daily, month-ends`. Snapshots that no rule keeps are removed. */
export interface KeepRule {
  /** The number of newest ones. */
  readonly last: number;
  /** The last one of each of this many days, in UTC. */
  readonly daily: number;
  /** The last one of every month, forever. */
  readonly monthEnds: boolean;
}

/** Undefined if the text is no such rule, or keeps nothing. */
export function parseKeepRule(text: string): KeepRule | undefined {
  const rule = { last: 0, daily: 0, monthEnds: false };
  for (const part of text.split(',').map((one) => one.trim())) {
    const [, count, word] = /^(?:(\d{1,6}) )?(last|daily|month-ends)$/.exec(part) ?? [];
    if (word === 'month-ends' && count === undefined) rule.monthEnds = true;
    else if ((word === 'last' || word === 'daily') && count !== undefined) rule[word] = Number(count);
    else return undefined;
  }
  return rule.last === 0 && rule.daily === 0 && !rule.monthEnds ? undefined : rule;
}

export interface Dated {
  readonly id: string;
  /** The time at which its rows were read, in Unix milliseconds. */
  readonly takenAt: number;
}

/**
 * Returns the IDs that the rule keeps. The time of the rows counts, not the time in the ID: a run that is reset, or waits for a worker,
 * publishes rows of today under the time it began. `now` determines the days that count.
 */
export function keptBy(
  rule: KeepRule,
  { snapshots, now }: { snapshots: readonly Dated[]; now: Date },
): Set<string> {
  const newestFirst = [...snapshots].sort((a, b) => b.takenAt - a.takenAt || (a.id < b.id ? 1 : -1));
  const firstDay = isoDay(now.getTime() - rule.daily * day);
  const recent = newestFirst.filter(({ takenAt }) => isoDay(takenAt) > firstDay);
  const kept = [
    ...newestFirst.slice(0, rule.last),
    ...(rule.daily > 0 ? firstOfEach(recent, isoDay) : []),
    ...(rule.monthEnds ? firstOfEach(newestFirst, isoMonth) : []),
  ];
  return new Set(kept.map(({ id }) => id));
}

/** Returns the first one of each day or month. */
function firstOfEach(snapshots: readonly Dated[], groupOf: (milliseconds: number) => string): Dated[] {
  const firsts = new Map<string, Dated>();
  for (const snapshot of snapshots) {
    const group = groupOf(snapshot.takenAt);
    if (!firsts.has(group)) firsts.set(group, snapshot);
  }
  return [...firsts.values()];
}

function isoDay(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

function isoMonth(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 7);
}

const day = 86_400_000;
