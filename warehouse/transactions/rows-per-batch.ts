/** How many rows one transaction deletes at most, where thousands go: it holds its locks for a moment, and a kill undoes little. */
export const rowsPerBatch = 5_000;
