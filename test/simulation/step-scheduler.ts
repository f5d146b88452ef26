import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as yieldToEventLoop, setTimeout as wait } from 'node:timers/promises';

/**
 * Serializes everything: every statement, every request and every change of the source waits here for its turn, so that a repeatable random
 * source chooses the order of all events. Only a statement that waits for a lock lets others continue meanwhile.
 */
export class StepScheduler {
  readonly #options: StepSchedulerOptions;
  readonly #waiting: Step[] = [];
  readonly #blocked = new Set<Step>();
  #connecting = 0;
  #taken = 0;

  constructor(options: StepSchedulerOptions) {
    this.#options = options;
  }

  /** Does the work when its turn has come. `key` names the owner, and orders the waiting steps. */
  runStep<Result>(
    step: { key: string; party?: Party; pid?: number },
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { key, party, pid } = step;
    if (party?.isDead() === true) return Promise.reject(new PartyDied());
    // Keeps the caller's async context, which determines the clock for the work.
    const asCaller = AsyncLocalStorage.snapshot();
    return new Promise<Result>((resolve, reject) => {
      let settled = false;
      this.#waiting.push({
        key,
        party,
        pid,
        isSettled: () => settled,
        reject,
        async run(mayAnswer) {
          const outcome = await asCaller(work).then(
            (result) => () => {
              resolve(result);
            },
            (error: unknown) => () => {
              reject(error instanceof Error ? error : new Error(String(error)));
            },
          );
          await mayAnswer();
          settled = true;
          if (party?.isDead() === true) reject(new PartyDied());
          else outcome();
        },
      });
    });
  }

  /** Runs work that takes real time and is no step. Nobody gets a turn before it is over. */
  async runUnscheduled<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#connecting += 1;
    try {
      return await work();
    } finally {
      this.#connecting -= 1;
    }
  }

  /** Rejects the waiting steps of a party that has died. */
  rejectStepsOf(party: Party): void {
    for (const step of this.#waiting.filter((one) => one.party === party)) {
      this.#waiting.splice(this.#waiting.indexOf(step), 1);
      step.reject(new PartyDied());
    }
  }

  /** Runs steps until the work is done. */
  async runStepsUntil<Result>(work: Promise<Result>): Promise<Result> {
    const progress = { over: false };
    const result = work.finally(() => {
      progress.over = true;
    });
    // The returned promise has the error; this one must not be an unhandled rejection meanwhile.
    result.catch(() => undefined);
    let deadline = startDeadline('the next step');
    for (;;) {
      await this.#quiet();
      if (progress.over) return result;
      const next = this.#choose();
      if (next === undefined) {
        deadline.check();
        await wait(1);
        await this.#settleBlocked();
        continue;
      }
      if (this.#taken > mostSteps) throw new HistoryTimedOut(`${mostSteps} steps were not enough`);
      await this.#run(next);
      deadline = startDeadline('the next step');
    }
  }

  #choose(): Step | undefined {
    // The order of arrival may depend on how fast a server answered; the order of names does not.
    this.#waiting.sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
    if (this.#waiting.length === 0) return undefined;
    const [next] = this.#waiting.splice(this.#options.choose(this.#waiting.map(({ key }) => key)), 1);
    return next;
  }

  async #run(step: Step): Promise<void> {
    this.#taken += 1;
    const decision = await this.#options.before(step.party, this.#taken);
    if (step.party?.isDead() === true) {
      step.reject(new PartyDied());
      return;
    }
    const running = step.run(async () => {
      if (decision === 'kill after') await this.#options.kill(step.party);
    });
    await Promise.race([running, wait(slowMilliseconds)]);
    const deadline = startDeadline(step.key);
    while (!step.isSettled()) {
      deadline.check();
      if (step.pid !== undefined && (await this.#options.isBlocked(step.pid))) {
        this.#blocked.add(step);
        break;
      }
      await Promise.race([running, wait(1)]);
    }
    await this.#settleBlocked();
    await this.#options.after(step);
  }

  /** Waits until each blocked step settles or is found waiting for a lock. A step whose lock is free continues by itself. */
  async #settleBlocked(): Promise<void> {
    for (const step of this.#blocked) {
      const deadline = startDeadline(step.key);
      while (!step.isSettled() && step.pid !== undefined && !(await this.#options.isBlocked(step.pid))) {
        deadline.check();
        await wait(1);
      }
      if (step.isSettled()) this.#blocked.delete(step);
    }
  }

  /** Waits until every party has come to a next step. Between two steps, a party waits only for the event loop. */
  async #quiet(): Promise<void> {
    for (let still = 0, waiting = -1; still < stillTurns; still += 1) {
      await yieldToEventLoop();
      if (this.#connecting > 0 || this.#waiting.length !== waiting) still = 0;
      waiting = this.#waiting.length;
    }
  }
}

/** A party that takes steps and can die. */
export interface Party {
  isDead(): boolean;
}

export class PartyDied extends Error {
  override readonly name = 'PartyDied';

  constructor() {
    super('The process was killed.');
  }
}

/** A history that never ends breaks a promise too, so every wait in it is bounded. */
export class HistoryTimedOut extends Error {
  override readonly name = 'HistoryTimedOut';

  constructor(why: string) {
    super(`The history did not end: ${why}.`);
  }
}

function startDeadline(what: string): { check: () => void } {
  const start = performance.now();
  return {
    check() {
      if (performance.now() - start > deadlineMilliseconds)
        throw new HistoryTimedOut(`${deadlineMilliseconds / 1000} s were spent waiting for ${what}`);
    },
  };
}

interface StepSchedulerOptions {
  /** Returns the index of the next step's key. */
  readonly choose: (keys: readonly string[]) => number;
  /** Called before the n-th step. May kill its party. */
  readonly before: (party: Party | undefined, step: number) => Promise<'kill after' | undefined>;
  readonly kill: (party: Party | undefined) => Promise<void>;
  readonly after: (step: TakenStep) => Promise<void>;
  readonly isBlocked: (pid: number) => Promise<boolean>;
}

export interface TakenStep {
  readonly key: string;
  readonly party: Party | undefined;
}

interface Step extends TakenStep {
  /** The backend process of the session that does the step. */
  readonly pid: number | undefined;
  isSettled(): boolean;
  reject(error: Error): void;
  run(mayAnswer: () => Promise<void>): Promise<void>;
}

const stillTurns = 4;
const slowMilliseconds = 15;
const deadlineMilliseconds = 60_000;
/** The most steps for the runs of one episode; a long one takes 3,000. */
const mostSteps = 30_000;
