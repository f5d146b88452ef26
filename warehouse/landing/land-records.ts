import type { PoolClient } from 'pg';
import type { LandingScope } from '../record-scope.ts';
import { lowerVersions } from '../history/move-versions.ts';
import type { PassInHand } from '../passes/pass.ts';
import { noteOverruled } from '../tombstones/note-overruled.ts';
import { classifyRecords } from './classify-records.ts';
import { inspectRecords } from './inspect-records.ts';
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
  /** Content already held; if only the version moved, the version was stored. */
  unchanged: number;
  suppressed: number;
}

export const nothingLanded: Readonly<LandedCounts> = { inserted: 0, updated: 0, unchanged: 0, suppressed: 0 };

/** Findings of landing about records that the warehouse should have held already. */
export interface Findings {
  readonly missing: readonly PreparedRecord[];
  readonly stale: readonly PreparedRecord[];
  /** Records whose rows were not what had been landed. */
  readonly damaged: readonly PreparedRecord[];
  /** Records that a newer version or a tombstone beat, and whether their columns differ from those held, if they were compared. */
  readonly suppressed: readonly { readonly record: PreparedRecord; readonly differs: boolean }[];
  /** See `Classified`. */
  readonly doubted: boolean;
  readonly revived: boolean;
}

export interface LandingInput extends LandingScope {
  records: readonly PreparedRecord[];
  /** For a page: no part of it was requested before this time, in the order of writes. */
  askedAt?: string | null;
  /**
   * How to compare a record that seems unchanged. A hash says what was landed; the stored columns say what is there now, at
   * three times the cost.
   */
  compare: 'hashes' | 'columns';
  /** The pass of a reconcile that lists the records; it compares columns. */
  listedBy?: PassInHand | undefined;
  /** IDs of records that a fetch, or two listings, have shown under an older version: they land whatever newer version or tombstone is held. */
  overruling?: readonly string[];
}

/** Writes records that passed their check to `finance` and `history`: the newest version wins, and nothing is written twice. */
export async function landRecords(
  client: PoolClient,
  input: LandingInput,
): Promise<{ counts: LandedCounts; findings: Findings }> {
  const classified = await classifyRecords(client, input);
  const { lost, changed, touched, unchanged, suppressed, unsettled } = classified;
  const inserted = [...classified.inserted, ...lost];
  const thorough = input.compare === 'columns';
  const inHistory = await sameContent(client, { ...input, records: [...changed, ...lost] });
  const updated = changed.filter(({ id }) => !inHistory.has(id));
  // Their content is the newest in history, but the row is another one: somebody restored it.
  const restored = changed.filter(({ id }) => inHistory.has(id));
  const onlyMoved = [...touched, ...restored];
  const known = [...onlyMoved, ...unchanged];
  const inspected = await inspectRecords(client, thorough ? input : { ...input, records: restored });
  const differing = new Set(inspected.filter((one) => one.damaged).map(({ id }) => id));
  const damaged = known.filter(({ id }) => differing.has(id));
  // By its hash, such a row held what arrives. If the newest content in history is another, this is a new version.
  const notCompared = damaged.filter(({ id }) => !inHistory.has(id));
  const damagedInHistory = await sameContent(client, { ...input, records: notCompared });
  const written = [...inserted, ...updated, ...damaged];
  await noteOverruled(client, { ...input, ids: input.overruling ?? [] });
  await touchRecords(client, { ...input, records: onlyMoved.filter(({ id }) => !differing.has(id)) });
  await removeChildren(client, {
    ...input,
    ids: (thorough ? written : [...updated, ...lost, ...damaged]).map(({ id }) => id),
  });
  await writeRecords(client, { ...input, records: written, inHistory: union(inHistory, damagedInHistory) });
  await lowerVersions(client, { ...input, ids: [...(input.overruling ?? []), ...lost.map(({ id }) => id)] });
  const isUnsettled = ({ id }: PreparedRecord): boolean => unsettled.has(id);
  await settleRecords(client, {
    ...input,
    written: written.filter(isUnsettled),
    known: known.filter(isUnsettled),
  });
  await noteFieldIssues(client, { ...input, written });
  return {
    counts: {
      inserted: inserted.length,
      updated: updated.length + damaged.length,
      unchanged: known.length - damaged.length,
      suppressed: suppressed.length,
    },
    findings: {
      missing: inserted,
      stale: updated,
      damaged,
      suppressed: suppressed.map((record) => ({ record, differs: differing.has(record.id) })),
      doubted: classified.doubted,
      revived: classified.revived,
    },
  };
}

function union(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  return new Set([...a, ...b]);
}
