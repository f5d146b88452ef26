import { counted } from '../../server/frame/counted.ts';
import type { Hour } from '../fleet/hour/run-hour.ts';
import { hasJava } from '../support/has-java.ts';
import { formatTableCell } from '../support/format-table-cell.ts';

/** A proof by mass, which takes too long for `npm test`. */
export interface Proof {
  readonly name: string;
  readonly title: string;
  /** A program of `test` whose last line of output is JSON, or tests, which are counted. */
  readonly run:
    | { readonly program: readonly string[] }
    | { readonly tests: readonly string[]; readonly env: Readonly<Record<string, string>> };
  /** Folders of the product that the proof does not run, so that a change in them does not outdate it. */
  readonly without?: readonly string[];
  /** The reason why it cannot run here. Undefined if it can. */
  readonly lacks?: () => string | undefined;
  /** Returns the result in words, and whether it is as expected. */
  readonly judge: (result: unknown) => Verdict;
}

export interface Verdict {
  readonly seen: string;
  readonly holds: boolean;
  /** Lines for a separate table, if the page has a place for it. */
  readonly lines?: readonly string[];
}

/** The result of running tests. */
export interface Counted {
  readonly passed: number;
  readonly failed: number;
}

const simulation = 'test/simulation/main.ts';

/** Tests that change settings of their sessions, or look for sessions by name. A pooler lends sessions on, so they do not run through one. */
const testsOfSessions: readonly string[] = [
  'test/lake/weights.test.ts',
  'test/warehouse/clock-wrong.test.ts',
  'test/warehouse/isolation.test.ts',
  'test/warehouse/login-relay.test.ts',
  'test/warehouse/one-commit.test.ts',
  'test/warehouse/pooler.test.ts',
];

/** A simulated company has no pages and no marts, and its workers are simulated too. */
const notSimulated = ['server', 'cli', 'embedded', 'marts', 'dbt', 'package-lock.json'];

export const proofs: readonly Proof[] = [
  {
    name: 'histories',
    title: 'random histories of a source that lies',
    run: { program: [simulation, '--histories', '2100', '--for', '12h', '--jobs', '2', '--json'] },
    without: notSimulated,
    judge(result: unknown): Verdict {
      const { histories, played, failure } = result as {
        histories: number;
        played: Readonly<Record<string, number>>;
        failure: { seed: number; message: string } | null;
      };
      const counts = Object.entries(played).map(([name, count]) => `${count.toLocaleString('en')} ${name}`);
      const broken =
        failure === null ? 'no promise was broken' : `seed ${failure.seed} broke one: ${failure.message}`;
      return {
        seen: `${histories.toLocaleString('en')} histories (${counts.join(', ')}); ${broken}`,
        holds: failure === null,
      };
    },
  },
  {
    name: 'mistakes',
    title: 'mistakes planted in the product, for the histories to notice',
    run: { program: [simulation, '--mutants', '--for', '10m', '--json'] },
    without: notSimulated,
    judge: judgeMistakes,
  },
  {
    name: 'books',
    title: 'every figure of the marts, on random books',
    run: { program: [simulation, '--books', '--for', '90m', '--json'] },
    judge(result: unknown): Verdict {
      const { books, figures, failure } = result as {
        books: number;
        figures: number;
        failure: { seed: number } | null;
      };
      return {
        seen: `${books.toLocaleString('en')} books, ${figures.toLocaleString('en')} figures; ${
          failure === null ? 'none was wrong' : `one was wrong: seed ${failure.seed}`
        }`,
        holds: failure === null,
      };
    },
  },
  {
    name: 'model-mistakes',
    title: 'mistakes planted in the models, for the books to notice',
    run: { program: [simulation, '--books', '--mutants', '--json'] },
    judge: judgeMistakes,
  },
  {
    name: 'tests',
    title: 'every test and every variant, those of `npm test` included',
    // The next two rows run the same tests, at every commit and every task.
    run: { tests: [], env: { TEST_PROOF: 'tests' } },
    judge: judgeTests,
  },
  {
    name: 'faults',
    title: 'deaths at every commit of every file, and other faults',
    run: { tests: ['test/faults', '--no-file-parallelism'], env: { TEST_PROOF: 'all' } },
    judge: judgeTests,
  },
  {
    name: 'reruns',
    title: 'workflows reset at every task',
    run: { tests: ['test/rerun'], env: { TEST_PROOF: 'all' } },
    judge: judgeTests,
  },
  {
    name: 'fleet',
    title:
      'ten thousand small companies for an hour: schedules, webhooks, kills, Temporal away for ten minutes',
    run: { program: ['test/fleet/hour/main.ts'] },
    judge: judgeFleetHour,
  },
  {
    name: 'unlucky-fleet',
    title:
      'a thousand companies for twenty minutes: the same, a company of 200,000 records, a tenth of the tokens refused, the API slow, Postgres killed',
    run: {
      program: [
        ...['test/fleet/hour/main.ts', '--misfortunes', '--connections', '1000', '--minutes', '20'],
        ...['--every-minutes', '5', '--temporal-away-minutes', '2', '--requests-per-10s', '450'],
      ],
    },
    judge: judgeFleetHour,
  },
  {
    name: 'small-mistakes',
    title: 'every small mistake that a tool can make in what lands, deletes and compares',
    run: { program: ['test/mutation/main.ts', '--json'] },
    judge(result: unknown): Verdict {
      const { made, survivors } = result as { made: number; survivors: readonly unknown[] };
      return {
        seen: `${(made - survivors.length).toLocaleString('en')} of ${made.toLocaleString('en')} noticed`,
        holds: true,
      };
    },
  },
  {
    name: 'extending',
    title: 'a column and a resource more, as docs/extending.md says',
    run: { tests: ['test/docs/extending.proof.test.ts'], env: { TEST_PROOF: 'tests' } },
    judge: judgeTests,
  },
  {
    name: 'another-postgres',
    title: 'the tests on another release of Postgres',
    run: {
      tests: ['test/warehouse', 'test/reconcile', 'test/deletions', 'test/lake', 'test/dbt'],
      env: { TEST_PROOF: 'tests' },
    },
    lacks: () =>
      process.env.TEST_POSTGRES_URL === undefined
        ? 'TEST_POSTGRES_URL names an empty one, as user postgres'
        : undefined,
    judge: judgeTests,
  },
  {
    name: 'pooler',
    title: 'the tests through PgBouncer in transaction mode alone',
    run: {
      tests: [
        ...[
          'warehouse',
          'reconcile',
          'deletions',
          'backfill',
          'repairs',
          'workflows',
          'webhooks',
          'lake',
          'marts',
          'dbt',
        ].map((folder) => `test/${folder}`),
        ...testsOfSessions.flatMap((file) => ['--exclude', file]),
      ],
      env: { TEST_PROOF: 'tests', TEST_POOLER: 'transaction' },
    },
    judge: judgeTests,
  },
  {
    name: 's3',
    title: 'the lake in an S3 that checks signatures (versitygw)',
    run: {
      tests: ['test/lake', 'test/dbt/odd-records.proof.test.ts', 'test/security/erase-hosts.proof.test.ts'],
      env: { TEST_PROOF: 'tests' },
    },
    lacks: () =>
      process.env.TEST_S3_PROGRAM === undefined
        ? 'TEST_S3_PROGRAM names a versitygw (go install github.com/versity/versitygw/cmd/versitygw@v1.8.0)'
        : undefined,
    judge: judgeTests,
  },
  {
    name: 'iceberg',
    title: 'Iceberg tables on a folder and in a bucket, read by PyIceberg, DuckDB and Spark',
    run: { tests: ['test/lake/iceberg'], env: { TEST_PROOF: 'tests' } },
    lacks: () =>
      process.env.TEST_SPARK_PYTHON === undefined
        ? 'TEST_SPARK_PYTHON names a Python that has PySpark 4.0'
        : undefined,
    judge: judgeTests,
  },
  {
    name: 'marts-on-spark',
    title:
      'the marts of worked and of random books with Spark, figure by figure; builds that are ended, and on a cluster',
    run: { tests: ['test/books/on-spark', 'test/dbt/on-spark'], env: { TEST_PROOF: 'tests' } },
    lacks: () => (hasJava() ? undefined : 'there is no Java'),
    judge: judgeTests,
  },
  {
    name: 'spark',
    title: 'a snapshot read by Spark',
    run: { tests: ['test/docs/connect.test.ts', '-t', 'spark'], env: { TEST_PROOF: 'tests' } },
    lacks: () =>
      process.env.TEST_SPARK_PYTHON === undefined
        ? 'TEST_SPARK_PYTHON names a Python that has PySpark'
        : undefined,
    judge: judgeTests,
  },
];

interface Outcome {
  readonly name: string;
  readonly file: string;
  readonly caughtBy: string | null;
  readonly seconds: number;
  readonly histories?: number;
}

function judgeMistakes(result: unknown): Verdict {
  const { outcomes } = result as { outcomes: readonly Outcome[] };
  const missed = outcomes.filter(({ caughtBy }) => caughtBy === null).map(({ name }) => name);
  const caught = `${outcomes.length - missed.length} of ${outcomes.length} caught`;
  return {
    seen: missed.length === 0 ? caught : `${caught}, but not: ${missed.join('; ')}`,
    holds: missed.length === 0,
    lines: [
      '| mistake | in | what was noticed | after |',
      '|---|---|---|---|',
      ...outcomes.map(({ name, file, caughtBy, seconds, histories }) => {
        const after =
          histories === undefined
            ? `${seconds} s`
            : `${seconds} s, ${counted(histories, 'history', 'histories')}`;
        return `| ${name} | \`${file}\` | ${formatTableCell(caughtBy ?? '**nothing**')} | ${after} |`;
      }),
    ],
  };
}

function judgeTests(result: unknown): Verdict {
  const { passed, failed } = result as Counted;
  return { seen: `${passed} passed, ${failed} failed`, holds: failed === 0 && passed > 0 };
}

function judgeFleetHour(result: unknown): Verdict {
  const { connections, firstLoadsSeconds, runs, webhooks, kills, worstAges, records, complaints } =
    result as Hour;
  const minutes = (seconds: number | null): string => `${Math.round((seconds ?? Infinity) / 60)}`;
  const counts = Object.entries(runs).map(([run, count]) => `${count.toLocaleString('en')} ${run}`);
  return {
    seen: `${connections.toLocaleString('en')} companies loaded in ${minutes(firstLoadsSeconds)} minutes; ${counts.join(', ')}; ${webhooks.toLocaleString('en')} webhooks, ${kills} kills; complete ${minutes(worstAges.p95)} minutes ago at worst (p95) before Temporal was away; ${records.toLocaleString('en')} records compared: ${complaints[0] ?? 'all as at the source'}`,
    holds: complaints.length === 0,
  };
}
