import { randomBytes } from 'node:crypto';
import type { ResourceName } from '../../sandbox/api/resources.ts';
import type { DeletionQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { secretKey } from './create-dependencies.ts';
import type { History } from './history.ts';
import { OpenSyncs } from './open-syncs.ts';
import { zeroPlayCounts, type PlayCounts } from './play-counts.ts';
import { WebhookDelivery } from './webhook-delivery.ts';
import { Source } from './source.ts';
import type { Harness } from './harness.ts';
import type { Environment } from './environment.ts';

/** A simulated company, and its state so far. */
export interface Company {
  readonly harness: Harness;
  readonly history: History;
  readonly environment: Environment;
  readonly connection: string;
  readonly source: Source;
  readonly webhookDelivery: WebhookDelivery;
  readonly played: PlayCounts;
  readonly syncs: OpenSyncs;
  /** Streams of which the service has ever returned a page. */
  readonly answered: Set<string>;
  /** The service's time when a sync last asked for the first page, by stream. */
  readonly passBeganAt: Map<string, number>;
  /** The right time when a page was last served to a sync, by stream. */
  readonly lastServedAt: Map<string, number>;
  /** The answers to the last reconcile, by resource. */
  readonly reconcileAnswers: Map<string, ReconcileAnswer>;
  /** The number of changes at the source before each run. */
  readonly changesBefore: Map<string, number>;
  /** The company of its token. `none`: the connection was removed and may not be added again. */
  token: 'own' | 'foreign' | 'none';
  /** Runs that the connection had when it was removed. */
  readonly removedRuns: Set<string>;
  /** The number of times that the connection was removed. */
  removals: number;
  /** The number of times that a standby without some commit took over. */
  lossyFailovers: number;
  /** Runs other than syncs that were open at such a takeover. None of them may succeed. */
  readonly openAtFailover: Set<string>;
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
  shownDeletions: ShownDeletions;
  /** Opens another company at the service, whose token a connection may have by mistake. */
  openOtherCompany(): Promise<string>;
}

/** The times at which the service answered a reconcile of a resource. */
export interface ReconcileAnswer {
  /** The service's time at the last page or fetch. */
  shownAt: number;
  /** The service's time at the last page of one record since then, which shows only the time. */
  askedAt: number | undefined;
  /** The right time of the last answer. */
  at: number;
}

/** The deletions that wait for approval, as a person was shown them. */
export interface ShownDeletions {
  /** The records' names, whatever the question says. */
  readonly names: ReadonlySet<string>;
  readonly question: DeletionQuestion;
}

/** Adds the connection with the token of the company `whose`. `warehouse` defaults to the harness's. */
export async function addConnectionWithToken(
  { harness, connection, history }: Pick<Company, 'harness' | 'connection' | 'history'>,
  whose: string,
  warehouse: Warehouse = harness.warehouse,
): Promise<void> {
  const { apiAddress } = harness;
  const access = {
    connectionId: connection,
    apiAddress,
    token: sandboxToken(whose),
    expandPlatformData: history.expands === true,
  };
  await addConnection(warehouse, secretKey, access);
}

/** Opens a new company at the service, and its connection. */
export async function openCompany(
  harness: Harness,
  { history, environment, place }: { history: History; environment: Environment; place: number },
): Promise<Company> {
  const { admin, clock } = harness;
  const connection = `c-${randomBytes(5).toString('hex')}`;
  const { platform, records } = history;
  await admin.execute({
    kind: 'add-connection',
    name: connection,
    platform,
    records: fewestRecords + records,
  });
  await addConnectionWithToken({ harness, connection, history }, connection);
  const webhookDelivery = new WebhookDelivery(harness);
  const source = new Source({ history, connection, clock, admin, webhookDelivery, environment, place });
  await source.open();
  let otherCompany: Promise<string> | undefined;
  return {
    harness,
    history,
    environment,
    connection,
    source,
    webhookDelivery,
    played: zeroPlayCounts(),
    syncs: new OpenSyncs(),
    answered: new Set(),
    removedRuns: new Set(),
    passBeganAt: new Map(),
    lastServedAt: new Map(),
    reconcileAnswers: new Map(),
    changesBefore: new Map(),
    token: 'own',
    removals: 0,
    lossyFailovers: 0,
    openAtFailover: new Set(),
    rowsLost: false,
    cursorsBroke: false,
    waiting: { open: [], removals: 0 },
    shownDeletions: { names: new Set(), question: {} },
    async openOtherCompany() {
      otherCompany ??= addOtherCompany(harness, `${connection}-other`, platform);
      return otherCompany;
    },
  };
}

export function sandboxToken(connection: string): string {
  return `sandbox-token-${connection}`;
}

/** Enough for one of each resource. */
const fewestRecords = 6;

async function addOtherCompany({ admin }: Harness, name: string, platform: string): Promise<string> {
  await admin.execute({ kind: 'add-connection', name, platform, records: fewestRecords });
  return name;
}
