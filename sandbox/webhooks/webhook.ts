/** One message to all addresses. */
export interface Webhook {
  readonly type: string;
  readonly code: string;
  /** The name of the connection and the record's ID, for the log. */
  readonly connection: string;
  readonly recordId: string | null;
  /** JSON text. */
  readonly body: string;
}
