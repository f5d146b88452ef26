/** The range of the number of records of a connection, over all its resources. */
export const recordsBounds = [100, 1_000_000] as const;
