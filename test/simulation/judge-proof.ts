import type { Company } from './company.ts';
import { allowedListLag } from './history.ts';
import { InvariantViolation } from './invariant-checker.ts';

/**
 * Called after every commit of the step that proves. A reconcile may call a resource equal, or clear the reason that made it necessary,
 * only if what it was shown is current. If the service tells its time, no pause of any of our clocks can hide the age of an answer.
 */
export class ProofJudge {
  readonly #company: Company;
  /** Whether a reconcile was wanted, by stream. */
  readonly #wanted = new Map<string, boolean>();
  readonly #known = new Set<string>();

  constructor(company: Company) {
    this.#company = company;
  }

  async check(): Promise<void> {
    const { harness, connection } = this.#company;
    const { rows } = await harness.watcher.query<Settled>(
      `select s.stream, s.reconcile_wanted_at is not null as wanted, r.run_id as run, r.status, r.failure,
         extract(epoch from sim.clock_timestamp() - r.finished_at)::float8 * 1000 as "agoMilliseconds"
       from sync.streams s
       left join lateral (
         select run_id, rs.status, rs.failure, rs.finished_at
         from sync.run_streams rs join sync.runs using (run_id)
         where rs.connection_id = s.connection_id and rs.stream = s.stream and kind = 'reconcile' and totals is not null
         order by rs.finished_at desc
         limit 1
       ) r on true
       where s.connection_id = $1`,
      [connection],
    );
    for (const settled of rows) {
      this.#judgeWanted(settled);
      const { run, stream, status } = settled;
      if (run === null || this.#known.has(`${run} ${stream}`)) continue;
      this.#known.add(`${run} ${stream}`);
      if (status === 'succeeded') this.#judgeAge(settled);
    }
  }

  #judgeWanted({ stream, wanted, failure }: Settled): void {
    const before = this.#wanted.get(stream) === true;
    this.#wanted.set(stream, wanted);
    if (before && !wanted && failure?.includes('stood still') === true)
      throw new InvariantViolation(
        `A reconcile of ${stream} has proved nothing, and none is wanted any more.`,
      );
  }

  /** A transaction may stay open for hours on a host that slept with its Postgres. Its result holds for the time that it names. */
  #judgeAge({ stream, agoMilliseconds: ago }: Settled): void {
    const { history, reconcileAnswers, source, environment, harness } = this.#company;
    const answer = reconcileAnswers.get(stream === 'refunds' ? 'expenses' : stream);
    if (answer === undefined) return;
    const mayBe = allowedListLag(history) + 60_000;
    const jumped = environment.databaseJumps.some((at) => at >= answer.at);
    const waited = harness.clock.now() - ago - answer.at;
    const told = history.dateless === true ? 0 : (answer.askedAt ?? source.now() - ago) - answer.shownAt;
    const old = Math.max(jumped ? 0 : waited, told);
    if (old > mayBe)
      throw new InvariantViolation(
        `A reconcile says that ${stream} is equal, by what it was shown ${Math.round(old / 1000)} s before.`,
      );
  }
}

interface Settled {
  stream: string;
  wanted: boolean;
  run: string | null;
  status: string | null;
  failure: string | null;
  /** How long ago it was written, by the clock of the database. */
  agoMilliseconds: number;
}
