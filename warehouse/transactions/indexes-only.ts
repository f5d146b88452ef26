const settings = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'] as const;

/** For one transaction. A table grows large, and a batch is small, so the planner's estimates of the rest do not matter. */
export const indexesOnly = settings.map((name) => `set local ${name} = off`).join('; ');

/** The same, as columns of a query. */
export const indexesOnlyColumns = settings.map((name) => `set_config('${name}', 'off', true)`).join(', ');
