/** A stored `object_deleted` event (2.9, 6.1). Times are Unix ms. */
export interface DeletionEvent {
  readonly id: string;
  readonly resource: string;
  readonly recordId: string;
  readonly at: number;
}
