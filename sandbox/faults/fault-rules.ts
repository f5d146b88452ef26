import type { RequestTarget } from '../api/data-request.ts';
import { isPlatformFault } from './fault-rule.ts';
import type { Fault, FaultRule, PlatformFault, RequestFault } from './fault-rule.ts';

/** The active fault rules. The oldest rule that matches a request and is not used up applies. */
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

  /** Returns the fault for a request, if any. */
  take(request: RequestTarget): RequestFault | null {
    return this.#take(request, (fault): fault is RequestFault => !isPlatformFault(fault));
  }

  /** Returns the fault for passing a write on to the platform, if any. */
  takePlatform(request: RequestTarget): PlatformFault | null {
    return this.#take(request, isPlatformFault);
  }

  #take<Kind extends Fault>(request: RequestTarget, isKind: (fault: Fault) => fault is Kind): Kind | null {
    for (const armed of this.#armed.values()) {
      const { rule } = armed;
      if (!isKind(rule.fault) || !matches(rule.match, request)) continue;
      armed.matched += 1;
      const usedUp = armed.happened >= (rule.times ?? Infinity) || performance.now() > armed.until;
      if (armed.matched <= rule.after || usedUp) continue;
      armed.happened += 1;
      return rule.fault;
    }
    return null;
  }
}

function matches(match: FaultRule['match'], { method, path, connection, query }: RequestTarget): boolean {
  if (match.method !== undefined && match.method !== method) return false;
  if (match.path !== undefined && !path.startsWith(match.path)) return false;
  if (match.connection !== undefined && match.connection !== connection) return false;
  return match.query === undefined || query.includes(match.query);
}

interface ArmedRule {
  readonly rule: FaultRule;
  readonly until: number;
  matched: number;
  happened: number;
}
