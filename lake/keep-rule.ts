/** Which snapshots are kept: `7 last, 30 daily, month-ends`. What no rule keeps goes. */
export interface KeepRule {
  /** The newest ones. */
  readonly last: number;
  /** The last one of each of so many days, in UTC. */
  readonly daily: number;
  /** The last one of every month, for ever. */
  readonly monthEnds: boolean;
}

/** Undefined when the text is no such rule, or keeps nothing. */
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

/** Those of `ids` that the rule keeps: an ID begins with its time. `now` says which days count. */
export function keptBy(rule: KeepRule, { ids, now }: { ids: readonly string[]; now: Date }): Set<string> {
  const newestFirst = [...ids].sort().reverse();
  const firstDay = new Date(now.getTime() - rule.daily * day).toISOString().slice(0, 10).replaceAll('-', '');
  const recent = newestFirst.filter((id) => id.slice(0, 8) > firstDay);
  return new Set([
    ...newestFirst.slice(0, rule.last),
    ...(rule.daily > 0 ? firstOfEach(recent, 8) : []),
    ...(rule.monthEnds ? firstOfEach(newestFirst, 6) : []),
  ]);
}

/** The first ID of each group of those that begin alike. */
function firstOfEach(ids: readonly string[], characters: number): string[] {
  const firsts = new Map<string, string>();
  for (const id of ids) {
    const group = id.slice(0, characters);
    if (!firsts.has(group)) firsts.set(group, id);
  }
  return [...firsts.values()];
}

const day = 86_400_000;
