import type { PassKind } from '../tables/passes.ts';

/** The subject of a pass: a resource, or the events, which are not records and have no versions. */
export interface Listed {
  readonly name: string;
  readonly version: 'last_synced_at' | 'updated_at' | null;
}

/** The pass that an attempt works on, and the lease that entitles it to. */
export interface PassInHand {
  readonly connectionId: string;
  readonly stream: string;
  readonly kind: PassKind;
  /** Window of a backfill; empty for other kinds. */
  readonly part: string;
  readonly runId: string;
  readonly lease: string;
  /** Mark of the access token that it reads with: see `tokenMark`. */
  readonly token: string;
}
