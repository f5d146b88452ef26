/** All problems of the configuration at once. Exit code 2. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.length === 1 ? (problems[0] ?? '') : problems.map((problem) => `- ${problem}`).join('\n'));
    this.problems = problems;
  }
}
