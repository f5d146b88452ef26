import type { Fault, FaultRule } from './fault-rule.ts';

/** The faults that are armed. The oldest rule that matches a request and is not used up decides. */
export class FaultRules {
  readonly #armed = new Map<number, ArmedRule>();
  #lastId = 0;

  add(rule: FaultRule): number {
    this.#lastId += 1;
    this.#armed.set(this.#lastId, {
      rule,
      until: performance.now() + (rule.forMs ?? Infinity),
      matched: 0,
      happened: 0,
    });
    return this.#lastId;
  }

  clear(): void {
    this.#armed.clear();
  }

  list(): { id: number; rule: FaultRule; matched: number; happened: number }[] {
    return [...this.#armed].map(([id, { rule, matched, happened }]) => ({ id, rule, matched, happened }));
  }

  take(request: FaultTarget): Fault | null {
    for (const armed of this.#armed.values()) {
      const { rule } = armed;
      if (!matches(rule.match, request)) continue;
      armed.matched += 1;
      const usedUp = armed.happened >= (rule.times ?? Infinity) || performance.now() > armed.until;
      if (armed.matched <= rule.after || usedUp) continue;
      armed.happened += 1;
      return rule.fault;
    }
    return null;
  }
}

function matches(match: FaultRule['match'], { path, connection, query }: FaultTarget): boolean {
  if (match.path !== undefined && !path.startsWith(match.path)) return false;
  if (match.connection !== undefined && match.connection !== connection) return false;
  return match.query === undefined || query.includes(match.query);
}

export interface FaultTarget {
  readonly path: string;
  /** Decoded, without the access token. */
  readonly query: string;
  readonly connection: string | null;
}

interface ArmedRule {
  readonly rule: FaultRule;
  readonly until: number;
  matched: number;
  happened: number;
}
