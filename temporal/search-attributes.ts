import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** The attributes by which runs are found in the Web UI. All are keywords. A namespace may lack them: runs work without them. */
export const searchAttributes = {
  connection: defineSearchAttributeKey('DaybookConnection', SearchAttributeType.KEYWORD),
  kind: defineSearchAttributeKey('DaybookKind', SearchAttributeType.KEYWORD),
  phase: defineSearchAttributeKey('DaybookPhase', SearchAttributeType.KEYWORD),
  failure: defineSearchAttributeKey('DaybookFailure', SearchAttributeType.KEYWORD),
} as const;

export const searchAttributeNames: readonly string[] = Object.values(searchAttributes).map(
  ({ name }) => name,
);
