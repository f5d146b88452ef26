/** The maximum of rows that one transaction deletes: it holds its locks only for a moment, and a kill undoes little. */
export const rowsPerBatch = 5_000;
