import type { PassKind } from '../tables/passes.ts';

/** The pass an attempt works on, and the lease that says it is the one that may. */
export interface PassInHand {
  readonly connectionId: string;
  readonly stream: string;
  readonly kind: PassKind;
  readonly runId: string;
  readonly lease: string;
}
