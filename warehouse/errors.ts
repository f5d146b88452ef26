import { reasonOf } from '../errors/reason-of.ts';
import type { DeletionQuestion } from './reconcile/deletion-question.ts';
import type { WaitingDeletions } from './reconcile/read-waiting-deletions.ts';

/** Another attempt took the lease of the pass, or a failover has lost the previous page. This attempt ends without a trace. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  readonly handling = 'retry';

  constructor(pass: { connectionId: string; stream: string }) {
    super(
      `Another attempt is now reading ${pass.stream} of ${pass.connectionId}, so this one stopped; nothing is lost.`,
    );
  }
}

/** The database lacks what was committed to it, because a standby has taken over. Later steps must not run. */
export class CommitsLost extends Error {
  override readonly name = 'CommitsLost';
  readonly handling = 'stop';

  constructor(what: string) {
    super(
      `The database has lost the last commits of ${what}, as after a failover, so it stopped: run it again.`,
    );
  }
}

/** Postgres or this host has the wrong time, by more than a day. */
export class ClockWrong extends Error {
  override readonly name = 'ClockWrong';
  readonly handling = 'retry';

  constructor({ postgres, host }: { postgres: Date; host: Date }) {
    super(
      `The clock of Postgres says ${postgres.toISOString()} and that of this host ${host.toISOString()}: correct the one that is wrong. ` +
        'Nothing is synced or pruned until they are less than a day apart.',
    );
  }
}

/** Another reconcile of the connection began after this one, and only its listing counts. */
export class ReconcileReplaced extends Error {
  override readonly name = 'ReconcileReplaced';
  readonly handling = 'stop';

  constructor(connectionId: string) {
    super(
      `Another reconcile of ${connectionId} began after this one, which has ended without a proof; see how that one ends.`,
    );
  }
}

/** A page named a page that was already read as its next one, so following it would never end. */
export class PagesGoRound extends Error {
  override readonly name = 'PagesGoRound';
  readonly handling = 'restart';

  constructor({ connectionId, stream }: { connectionId: string; stream: string }) {
    super(
      `The pages of ${stream} of ${connectionId} form a loop: the service pointed back to a page that was already read. The stream ` +
        'will be reread from its watermark; if that does not help, report it to the finance API.',
    );
  }
}

/** Page after page names a next one, but none has a record. */
export class PagesNeverEnd extends Error {
  override readonly name = 'PagesNeverEnd';
  readonly handling = 'restart';

  constructor({ connectionId, stream }: { connectionId: string; stream: string }, pages: number) {
    super(
      `The pages of ${stream} of ${connectionId} do not end: ${pages.toLocaleString('en')} in a row had no record, and each named a next one. ` +
        'The stream will be reread from its watermark; if that does not help, report it to the finance API.',
    );
  }
}

/** The service answers for another company than the one the connection was first used with. */
export class IdentityChanged extends Error {
  override readonly name = 'IdentityChanged';
  readonly handling = 'stop';

  constructor(connectionId: string) {
    super(
      `The access token of ${connectionId} now opens a different company, and nothing of that company was written. ` +
        `Set the right token with "daybook connection set-token ${connectionId}", or add the other company as a connection of its own.`,
    );
  }
}

/** A response is not used before the service has named the company. The next attempt requests that first. */
export class TokenNotProved extends Error {
  override readonly name = 'TokenNotProved';
  readonly handling = 'retry';

  constructor(connectionId: string) {
    super(
      `The service has not named the company of ${connectionId} in this run yet, so nothing was written; it will be asked again.`,
    );
  }
}

/** None of the lists that the platform offers names the company, although one did before or should, so nobody can know whose records these are. */
export class CompanyUnnamed extends Error {
  override readonly name = 'CompanyUnnamed';
  readonly handling = 'stop';

  constructor(connectionId: string) {
    super(
      `No response of the service says which company the access token of ${connectionId} opens, so nothing was written. Report it to the finance API.`,
    );
  }
}

/**
 * Two names for one company would copy it twice. Only the service says which company a token opens, and a wrong service may name
 * another one: being first proves nothing, and two organizations prove that one of the answers is wrong.
 */
export class IdentityInUse extends Error {
  override readonly name = 'IdentityInUse';
  readonly handling = 'stop';

  constructor(connectionId: string, other: { connectionId: string; isOfOtherOrganisation: boolean }) {
    const first = `${other.connectionId}, which reads it already`;
    super(
      (other.isOfOtherOrganisation
        ? `The service names one company for ${connectionId} and for ${first}, but two organizations, so one of the answers is wrong. Nothing was written. `
        : `${connectionId} opens the same company as ${first}, so nothing was written. `) +
        'Find out which connection the company belongs to, and remove the other one with "daybook connection remove".',
    );
  }
}

/** A person approved deletions, but by now others wait. */
export class ApprovalOutdated extends Error {
  override readonly name = 'ApprovalOutdated';
  readonly handling = 'stop';

  constructor(
    connectionId: string,
    { waiting, approved }: { waiting: readonly WaitingDeletions[]; approved: DeletionQuestion },
  ) {
    const changes = waiting.map(({ resource, records, run_id }) => {
      const { records: shown, run } = approved[resource] ?? {};
      const before =
        shown === undefined
          ? 'the approval did not name any'
          : `approved were ${shown}${run === undefined ? '' : `, found by ${run}`}`;
      return `${records} ${resource} wait, found gone by the reconcile ${run_id} (${before})`;
    });
    super(
      `What is waiting now is not what was approved: ${changes.join('; ')}. Nothing was deleted. ` +
        `"daybook discrepancies ${connectionId}" lists them; if they are really gone, approve them: "daybook reconcile ${connectionId} --approve-deletes".`,
    );
  }
}

export class UnknownConnection extends Error {
  override readonly name = 'UnknownConnection';
  readonly handling = 'stop';

  /** Undefined: the input of a run holds no valid name, or no reason. */
  constructor(connectionId?: string) {
    super(
      `${connectionId === undefined ? 'The input names no known connection, or gives no reason' : `There is no connection ${connectionId}`}. ` +
        '"daybook connection list" lists them.',
    );
  }
}

/** The connection for which a run was begun has been removed, and another one has its name. */
export class ConnectionReplaced extends Error {
  override readonly name = 'ConnectionReplaced';
  readonly handling = 'stop';

  constructor(connectionId: string) {
    super(
      `${connectionId} was removed while this run was under way, and that name now belongs to another connection: nothing was written to it. Run it again if you still need it.`,
    );
  }
}

export class WrongSecretKey extends Error {
  override readonly name = 'WrongSecretKey';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor() {
    super(
      'DAYBOOK_SECRET_KEY is not the key this warehouse was set up with. Set the original key; tokens encrypted with it cannot be read otherwise. ' +
        'If "daybook connection rotate-key" was interrupted, run it again.',
    );
  }
}

/** This process holds the old key; processes that hold the new key continue. */
export class KeyRotated extends Error {
  override readonly name = 'KeyRotated';
  readonly handling = 'retry';
  readonly isUsage = true;

  constructor() {
    super(
      'The secret key was rotated after this process started: restart it with the new DAYBOOK_SECRET_KEY. Its work waits.',
    );
  }
}

export class SchemaOutdated extends Error {
  override readonly name = 'SchemaOutdated';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor({ missing, hasWarehouse }: { missing: readonly string[]; hasWarehouse: boolean }) {
    super(
      hasWarehouse
        ? `The warehouse is older than this release: run "daybook migrate" first (missing: ${missing.join(', ')}).`
        : 'This database has no warehouse of Daybook yet: run "daybook migrate" first, or check DATABASE_URL.',
    );
  }
}

export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused';
  readonly handling = 'stop';
  readonly isUsage = true;
}

/** Postgres refused a migration, or went away during it. */
export class MigrationFailed extends Error {
  override readonly name = 'MigrationFailed';
  readonly handling = 'stop';

  constructor(migration: string, cause: unknown) {
    super(
      `The migration ${migration} failed and was rolled back: ${reasonOf(cause).replace(/\.$/, '')}. ` +
        'Remove the cause, then run "daybook migrate" again.',
      { cause },
    );
  }
}

/** Somebody else created a schema with the name of one that builds of the marts write in, and that builds and erasures drop. */
export class ForeignSchema extends Error {
  override readonly name = 'ForeignSchema';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor(schemas: readonly string[]) {
    const [one = ''] = schemas;
    super(
      `The database has ${schemas.join(' and ')}, which Daybook did not make and each build of the marts would drop: rename it ` +
        `("alter schema ${one} rename to …") or drop it, then try again.`,
    );
  }
}
