import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import { classifyRecords } from './classify-records.ts';
import type { PreparedRecord } from './prepared-page.ts';
import { removeChildren } from './remove-children.ts';
import { sameContent } from './same-content.ts';
import { noteFieldIssues } from './note-field-issues.ts';
import { settleRecords } from './settle-records.ts';
import { touchRecords } from './touch-records.ts';
import { writeRecords } from './write-records.ts';

export interface LandedCounts {
  inserted: number;
  updated: number;
  /** Content already held; where only the version moved, the version was stored. */
  unchanged: number;
  suppressed: number;
}

/** Brings records that passed their check into `finance` and `history`: newest wins, and nothing is written twice. */
export async function landRecords(
  client: PoolClient,
  input: {
    connectionId: string;
    resource: Resource;
    runId: string;
    landedAt: string;
    records: readonly PreparedRecord[];
  },
): Promise<LandedCounts> {
  const { inserted, changed, touched, unchanged, suppressed, unsettled } = await classifyRecords(
    client,
    input,
  );
  const same = await sameContent(client, { ...input, records: changed });
  const updated = changed.filter(({ id }) => !same.has(id));
  const known = [...touched, ...changed.filter(({ id }) => same.has(id))];
  const written = [...inserted, ...updated];
  await touchRecords(client, { ...input, records: known });
  await removeChildren(client, { ...input, ids: updated.map(({ id }) => id) });
  await writeRecords(client, { ...input, records: written });
  if (unsettled) await settleRecords(client, { ...input, written, known: [...known, ...unchanged] });
  await noteFieldIssues(client, { ...input, written });
  return {
    inserted: inserted.length,
    updated: updated.length,
    unchanged: known.length + unchanged.length,
    suppressed: suppressed.length,
  };
}
