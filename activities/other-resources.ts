/** A running backfill has the same name, but reads fewer resources. The due one begins when it has ended. */
export class OtherResources extends Error {
  override readonly name = 'OtherResources';
  readonly handling = 'retry';

  constructor(workflowId: string, lacked: readonly { readonly name: string }[]) {
    super(
      `${workflowId} is running, without ${lacked.map(({ name }) => name).join(', ')}. The backfill of the schedule begins when it has ended.`,
    );
  }
}
