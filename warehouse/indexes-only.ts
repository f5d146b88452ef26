/** For one transaction. A table grows large, and a batch is small: what the planner thinks of the rest does not matter. */
export const indexesOnly =
  'set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off';
