/** How many records a connection can have, over all its resources. */
export const recordsBounds = [100, 1_000_000] as const;
