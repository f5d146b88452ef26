import { randomBytes } from 'node:crypto';
import type { ResourceName } from '../../sandbox/api/resources.ts';
import type { DeletionQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { secretKey } from './dependencies-of.ts';
import type { History } from './history.ts';
import { OpenSyncs } from './open-syncs.ts';
import { nothingPlayed, type Played } from './played.ts';
import { Post } from './post.ts';
import { Source } from './source.ts';
import type { Stage } from './stage.ts';
import type { Surroundings } from './surroundings.ts';

/** A company of the stage, and its state so far. */
export interface Company {
  readonly stage: Stage;
  readonly history: History;
  readonly surroundings: Surroundings;
  readonly connection: string;
  readonly source: Source;
  readonly post: Post;
  readonly played: Played;
  readonly syncs: OpenSyncs;
  /** Streams that have ever returned a page to anybody. */
  readonly answered: Set<string>;
  /** The service's time when a sync last asked for the first page, by stream. */
  readonly began: Map<string, number>;
  /** The right time when a page was last served to a sync, by stream. */
  readonly served: Map<string, number>;
  /** The answers to the last reconcile, by resource. */
  readonly readings: Map<string, Reading>;
  /** The number of changes at the source before each run. */
  readonly changesBefore: Map<string, number>;
  /** The company of its token. `none`: the connection was removed and may not be added again. */
  token: 'own' | 'foreign' | 'none';
  /** Runs that the connection had when it was removed. */
  readonly removedRuns: Set<string>;
  /** The number of times that the connection was removed. */
  removals: number;
  /** The number of times that a standby without some commit took over. */
  losses: number;
  /** Runs other than syncs that were open at such a takeover. None of them may succeed. */
  readonly outlived: Set<string>;
  /** Whether its rows in `finance` were lost since the last run. */
  rowsLost: boolean;
  /** Whether cursors of open passes have become useless since the last run that could find out. */
  cursorsBroke: boolean;
  /** The quarantine, at the last look, of records that only lists can show, and the number of removals by then. */
  waiting: {
    readonly open: readonly {
      readonly resource: ResourceName;
      /** Null: the record has no id. */
      readonly id: string | null;
      readonly content: string;
    }[];
    readonly removals: number;
  };
  /** The deletions that a person last saw waiting for approval, by name of the record. */
  shown: Shown;
  /** Opens another company at the service, to which a wrong token may lead. */
  stranger(): Promise<string>;
}

/** The times at which the service answered a reconcile of a resource. */
export interface Reading {
  /** The service's time at the last page or fetch. */
  shownAt: number;
  /** The service's time at the last page of one record since then, which shows only the time. */
  askedAt: number | undefined;
  /** The right time of the last answer. */
  at: number;
}

/** The deletions that wait for approval, as a person was shown them. */
export interface Shown {
  /** The records' names, whatever the question says. */
  readonly names: ReadonlySet<string>;
  readonly question: DeletionQuestion;
}

/** Opens a new company at the service, and its connection. */
export async function openCompany(
  stage: Stage,
  { history, surroundings, place }: { history: History; surroundings: Surroundings; place: number },
): Promise<Company> {
  const { admin, clock, warehouse, apiAddress } = stage;
  const connection = `c-${randomBytes(5).toString('hex')}`;
  const { platform, records } = history;
  await admin.execute({
    kind: 'add-connection',
    name: connection,
    platform,
    records: fewestRecords + records,
  });
  const access = {
    connectionId: connection,
    apiAddress,
    token: tokenOf(connection),
    expandPlatformData: false,
  };
  await addConnection(warehouse, secretKey, access);
  const post = new Post(stage);
  const source = new Source({ history, connection, clock, admin, post, surroundings, place });
  await source.open();
  let stranger: Promise<string> | undefined;
  return {
    stage,
    history,
    surroundings,
    connection,
    source,
    post,
    played: nothingPlayed(),
    syncs: new OpenSyncs(),
    answered: new Set(),
    removedRuns: new Set(),
    began: new Map(),
    served: new Map(),
    readings: new Map(),
    changesBefore: new Map(),
    token: 'own',
    removals: 0,
    losses: 0,
    outlived: new Set(),
    rowsLost: false,
    cursorsBroke: false,
    waiting: { open: [], removals: 0 },
    shown: { names: new Set(), question: {} },
    async stranger() {
      stranger ??= openStranger(stage, `${connection}-other`, platform);
      return stranger;
    },
  };
}

export function tokenOf(connection: string): string {
  return `sandbox-token-${connection}`;
}

/** Enough for one of each resource. */
const fewestRecords = 6;

async function openStranger({ admin }: Stage, name: string, platform: string): Promise<string> {
  await admin.execute({ kind: 'add-connection', name, platform, records: fewestRecords });
  return name;
}
