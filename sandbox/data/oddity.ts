import type { ResourceName } from '../api/resources.ts';

/** One awkward way to write a record. */
export interface Oddity {
  readonly name: string;
  /** Whether a careful client can store the record; otherwise it can only quarantine it. */
  readonly landable: boolean;
  /** The replaced members, as raw JSON text; null removes the member. */
  readonly patch: Readonly<Partial<Record<ResourceName, Readonly<Record<string, string | null>>>>>;
}
