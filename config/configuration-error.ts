/** All problems of the configuration at once. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly isUsage = true;
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.length === 1 ? (problems[0] ?? '') : problems.map((problem) => `- ${problem}`).join('\n'));
    this.problems = problems;
  }
}
