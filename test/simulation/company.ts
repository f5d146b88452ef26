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

/** A company of the stage, and what has been played with it so far. */
export interface Company {
  readonly stage: Stage;
  readonly history: History;
  readonly surroundings: Surroundings;
  readonly connection: string;
  readonly source: Source;
  readonly post: Post;
  readonly played: Played;
  readonly syncs: OpenSyncs;
  /** Streams that have returned a page to anybody, ever. */
  readonly answered: Set<string>;
  /** Of every stream, the service's time when a sync last asked for its first page. */
  readonly began: Map<string, number>;
  /** Of every stream, the right time when a page of it was last served to a sync. */
  readonly served: Map<string, number>;
  /** Of every resource, how its last reconcile has been answered. */
  readonly readings: Map<string, Reading>;
  /** Of every run, the changes of the source before it. */
  readonly changesBefore: Map<string, number>;
  /** Whose token it has: its own, another company's, or none, for it was removed and may not be added again. */
  token: 'own' | 'foreign' | 'none';
  /** Runs that it had when it was removed. */
  readonly removedRuns: Set<string>;
  /** How often the connection was removed. */
  removals: number;
  /** How often a standby has taken over that lacks a commit. */
  losses: number;
  /** Runs, but for syncs, that were open when it did: none of them may succeed. */
  readonly outlived: Set<string>;
  /** Its rows in `finance` were lost since the last run. */
  rowsLost: boolean;
  /** Cursors of open passes have become useless since the last run that could find out. */
  cursorsBroke: boolean;
  /** What waited of records that only lists tell of when it was last looked at, and how often it had been removed by then. */
  waiting: {
    readonly open: readonly {
      readonly resource: ResourceName;
      /** Null of a record that has none. */
      readonly id: string | null;
      readonly content: string;
    }[];
    readonly removals: number;
  };
  /** What somebody saw waiting for approval, by name of the record. */
  shown: Shown;
  /** Another company at the service, for whose token its own may be taken. */
  stranger(): Promise<string>;
}

/** When the service has answered a reconcile of a resource. */
export interface Reading {
  /** Its time of the last page or fetch. */
  shownAt: number;
  /** Its time when it was last asked for nothing but that since. */
  askedAt: number | undefined;
  /** The right time of the last answer. */
  at: number;
}

/** What waits for approval, as a person was shown it. */
export interface Shown {
  /** Of the records, whatever a question says of them. */
  readonly names: ReadonlySet<string>;
  readonly question: DeletionQuestion;
}

/** Opens a company of its own at the service, and its connection. */
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

/** So that there is one of each resource. */
const fewestRecords = 6;

async function openStranger({ admin }: Stage, name: string, platform: string): Promise<string> {
  await admin.execute({ kind: 'add-connection', name, platform, records: fewestRecords });
  return name;
}
