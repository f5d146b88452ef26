import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** Runs are found in the Web UI by these. All are keywords. A namespace may lack them: runs work without them. */
export const searchAttributes = {
  connection: defineSearchAttributeKey('DaybookConnection', SearchAttributeType.KEYWORD),
  kind: defineSearchAttributeKey('DaybookKind', SearchAttributeType.KEYWORD),
  phase: defineSearchAttributeKey('DaybookPhase', SearchAttributeType.KEYWORD),
  failure: defineSearchAttributeKey('DaybookFailure', SearchAttributeType.KEYWORD),
} as const;

export const searchAttributeNames: readonly string[] = Object.values(searchAttributes).map(
  ({ name }) => name,
);
