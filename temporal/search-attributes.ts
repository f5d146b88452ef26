import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/** By these a run is found in the Web UI. Keywords all. A namespace may lack them: runs work without. */
export const searchAttributes = {
  connection: defineSearchAttributeKey('DaybookConnection', SearchAttributeType.KEYWORD),
  kind: defineSearchAttributeKey('DaybookKind', SearchAttributeType.KEYWORD),
  phase: defineSearchAttributeKey('DaybookPhase', SearchAttributeType.KEYWORD),
  failure: defineSearchAttributeKey('DaybookFailure', SearchAttributeType.KEYWORD),
} as const;

export const searchAttributeNames: readonly string[] = Object.values(searchAttributes).map(
  ({ name }) => name,
);
