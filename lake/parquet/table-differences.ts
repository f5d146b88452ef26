/** The facts of a table that are compared: the database's with the files' or the manifest's. */
export interface TableFacts {
  readonly rows: number;
  readonly columns: Readonly<Record<string, string>>;
  readonly sums: Readonly<Record<string, string>>;
}

/** Describes the differences; empty if there are none. Values are left out: they may be amounts. */
export function tableDifferences(name: string, expected: TableFacts, seen: TableFacts): string[] {
  const problems: string[] = [];
  if (seen.rows !== expected.rows) problems.push(`${name} has ${seen.rows} rows instead of ${expected.rows}`);
  for (const column of new Set([...Object.keys(expected.columns), ...Object.keys(seen.columns)])) {
    const [wanted, found] = [expected.columns[column] ?? 'no column', seen.columns[column] ?? 'no column'];
    if (wanted !== found) problems.push(`${name}.${column} is ${found} instead of ${wanted}`);
  }
  for (const [column, sum] of Object.entries(expected.sums)) {
    if (seen.sums[column] !== sum) problems.push(`the sum of ${name}.${column} is another`);
  }
  return problems;
}
