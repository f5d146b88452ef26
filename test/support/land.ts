import { randomUUID } from 'node:crypto';
import { streamNamed } from '../../resources/index.ts';
import type { ServiceIdentity } from '../../warehouse/connections/pin-identity.ts';
import { proveToken } from '../../warehouse/connections/prove-token.ts';
import { createFindHeld } from '../../warehouse/landing/find-held.ts';
import { landPage } from '../../warehouse/landing/land-page.ts';
import { preparePage, type PreparedPage } from '../../warehouse/landing/prepared-page.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { PassInHand } from '../../warehouse/passes/pass.ts';
import type { PageFacts } from '../../warehouse/passes/record-page.ts';
import { takePass, type PassTaken } from '../../warehouse/passes/take-pass.ts';
import { beginRun } from '../../warehouse/runs/begin-run.ts';
import { tokenMarkSql } from '../../warehouse/secrets/sealed-token.ts';
import { sourceRecords } from './source-records.ts';

/** Reads a stream as a run does: takes its pass and lands the pages, of which the last completes it. Returns the facts of each page. */
export async function land(
  warehouse: Warehouse,
  input: { connectionId: string; stream: string; pages: readonly (readonly string[])[]; runId?: string },
): Promise<PageFacts[]> {
  const { pass } = await openPass(warehouse, input);
  const facts: PageFacts[] = [];
  for (const [index, records] of input.pages.entries()) {
    const nextCursor = index === input.pages.length - 1 ? null : `page-${index + 2}`;
    facts.push(await landRecords(warehouse, { pass, records, nextCursor }));
  }
  return facts;
}

/** Begins a run and takes the pass of the stream, up to the first page. */
export async function openPass(
  warehouse: Warehouse,
  input: { connectionId: string; stream: string; runId?: string; lookbackMilliseconds?: number },
): Promise<{ pass: PassInHand; taken: PassTaken }> {
  const { connectionId, stream: name, runId = randomUUID(), lookbackMilliseconds = 600_000 } = input;
  await begin(warehouse, { connectionId, runId });
  const pass: PassInHand = {
    connectionId,
    stream: name,
    kind: 'sync',
    part: '',
    runId,
    lease: randomUUID(),
    token: await readTokenMark(warehouse, connectionId),
  };
  const taken = await takePass(warehouse, { pass, ...streamNamed(name), lookbackMilliseconds });
  return { pass, taken };
}

/** Begins a run. A run that begins again under the same id continues, as after a reset of its workflow. */
export async function begin(
  warehouse: Warehouse,
  { connectionId, runId }: { connectionId: string; runId: string },
): Promise<void> {
  const workflowId = `sync/${connectionId}`;
  await beginRun(warehouse, {
    runId,
    connectionId,
    kind: 'sync',
    workflowId,
    temporalRunId: runId,
    reason: 'test',
  });
  await markTokenProved(warehouse, runId);
}

/** The mark of the connection's current access token. */
export async function readTokenMark(warehouse: Warehouse, connectionId: string): Promise<string> {
  const { rows } = await warehouse.pool.query<{ mark: string }>(
    `select ${tokenMarkSql} as mark from sync.connections where connection_id = $1`,
    [connectionId],
  );
  return rows[0]?.mark ?? '';
}

/** Marks the run as if the service had named the company of the connection. */
export async function markTokenProved(warehouse: Warehouse, runId: string): Promise<void> {
  await warehouse.pool.query(
    `update sync.runs r set proved_token = ${tokenMarkSql}
     from sync.connections c where c.connection_id = r.connection_id and r.run_id = $1`,
    [runId],
  );
}

/** Lands one page of an open pass. Without a next cursor it is the last one. */
export async function landRecords(
  warehouse: Warehouse,
  input: {
    pass: PassInHand;
    records: readonly string[];
    nextCursor?: string | null;
    identity?: ServiceIdentity;
    /** Default: now. Null: the service does not tell. */
    servedAt?: Date | null;
    heardAt?: Date | null;
    lookbackMilliseconds?: number;
  },
): Promise<PageFacts> {
  const {
    pass,
    records,
    nextCursor = null,
    identity,
    servedAt = new Date(),
    heardAt = null,
    lookbackMilliseconds = 600_000,
  } = input;
  if (identity !== undefined) await proveToken(warehouse, { ...pass, identity });
  const { resource } = streamNamed(pass.stream);
  const page = await preparePage(
    resource,
    await sourceRecords(resource.name, records, createFindHeld(warehouse, { ...pass, resource })),
  );
  return landPage(warehouse, {
    pass,
    resource,
    page,
    cursor: await readCursor(warehouse, pass),
    requests: 1,
    servedAt,
    heardAt,
    nextCursor,
    lookbackMilliseconds,
  });
}

/** The cursor of the pass. */
async function readCursor({ pool }: Warehouse, pass: PassInHand): Promise<string | null> {
  const { rows } = await pool.query<{ cursor: string | null }>(
    'select cursor from sync.passes where connection_id = $1 and stream = $2 and kind = $3 and part = $4',
    [pass.connectionId, pass.stream, pass.kind, pass.part],
  );
  return rows[0]?.cursor ?? null;
}

/** Turns the text of a response into a prepared page the way a sync does. */
export async function parsePage(stream: string, records: readonly string[]): Promise<PreparedPage> {
  const { resource } = streamNamed(stream);
  return preparePage(resource, await sourceRecords(resource.name, records));
}
