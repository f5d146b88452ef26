import { PythonMissing } from '../python/errors.ts';

/** Nothing has failed: the tools or the data that marts need are missing. */
export function isNothingToBuild(
  error: unknown,
): error is PythonMissing | NoSnapshot | JavaMissing | NoIcebergSnapshot | SparkBehindPooler {
  return [PythonMissing, NoSnapshot, JavaMissing, NoIcebergSnapshot, SparkBehindPooler].some(
    (kind) => error instanceof kind,
  );
}

/** A model or an error-level test failed, as it would again. The marts of the last good build stay. */
export class MartsFailed extends Error {
  override readonly name = 'MartsFailed';
  readonly handling = 'stop';

  constructor(failed: readonly FailedNode[], logFile: string) {
    const names = failed.map(({ name }) => name).join(', ');
    const what = failed.length === 0 ? 'dbt did not finish' : `${names} failed`;
    const remedy = failed.some(({ message }) => message.includes('temp_file_limit'))
      ? ` ${ofTemporaryFiles}`
      : '';
    super(`The marts were not replaced: ${what}.${remedy} The log is in ${logFile}.`);
  }
}

export interface FailedNode {
  readonly name: string;
  /** The message of dbt or the database. */
  readonly message: string;
}

const ofTemporaryFiles =
  'A statement needed more temporary files than temp_file_limit allows: on a server of your own, a superuser raises it ' +
  '("alter system set temp_file_limit = ...; select pg_reload_conf()"); that of the embedded Postgres is a quarter of the disk that was free ' +
  'when it started, so free some and start it again.';

/** The marts would be those of no company at all. */
export class NoOwnConnection extends Error {
  override readonly name = 'NoOwnConnection';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor(apiAddress: string) {
    super(
      `The marts were not replaced: no connection was added under the API address ${apiAddress}, so they would be empty. ` +
        'Set DAYBOOK_API_URL to the address that "daybook connection list" shows, or add a connection first.',
    );
  }
}

/** An erasure has found marts in a lake without any sign that it is Daybook's. A person must check whose they are. */
export class MartsUnknown extends Error {
  override readonly name = 'MartsUnknown';
  readonly handling = 'stop';

  constructor(lake: string) {
    super(
      `The files below marts of the lake ${lake} were not searched. Daybook has published no snapshot there, so anybody may own them. ` +
        'Check DAYBOOK_LAKE; if they belong to a lake that was moved, remove them, and latest-marts.json.',
    );
  }
}

/** Readers see marts of newer rows than the snapshot of this build: somebody has put an older `latest.json` there. */
export class MartsOlder extends Error {
  override readonly name = 'MartsOlder';
  readonly handling = 'stop';

  constructor(lake: string, snapshotId: string) {
    super(
      `The marts were not replaced: latest-marts.json of the lake ${lake} names marts of newer rows than those of snapshot ${snapshotId}, ` +
        'which latest.json names. Run "daybook export --force", then build again.',
    );
  }
}

/** Only an export fixes it. */
export class NoSnapshot extends Error {
  override readonly name = 'NoSnapshot';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor(lake: string) {
    super(`The lake ${lake} has no snapshot yet: run "daybook export" first.`);
  }
}

export class JavaMissing extends Error {
  override readonly name = 'JavaMissing';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor(found: string | undefined) {
    super(
      `Spark needs Java 17 or newer, and ${found === undefined ? 'there is no java in JAVA_HOME or on PATH' : `java is ${found}`}: ` +
        'install it, then run "daybook dbt build --target spark" again.',
    );
  }
}

/** Only an export fixes it. */
export class NoIcebergSnapshot extends Error {
  override readonly name = 'NoIcebergSnapshot';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor(lake: string) {
    super(
      `Spark reads Iceberg tables, and those of the lake ${lake} show no snapshot yet: run "daybook export --iceberg" first.`,
    );
  }
}

/** Spark's catalog sets its schema for the session, which a pooler refuses, or passes on to other clients. */
export class SparkBehindPooler extends Error {
  override readonly name = 'SparkBehindPooler';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor() {
    super(
      'Spark reads the catalog of the Iceberg tables in sessions of its own, and there is a pooler in front of Postgres: ' +
        'give DAYBOOK_DATABASE_DIRECT_URL the address of Postgres itself.',
    );
  }
}

/** Spark was started, and a check of its surroundings failed: a person is needed. */
export class SparkRefused extends Error {
  override readonly name = 'SparkRefused';
  readonly handling = 'stop';

  constructor(why: string) {
    super(`The marts were not built on Spark: ${why}.`);
  }
}
