import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Starts slow test files first. Without a cache of durations vitest starts large files first, and a small slow file that began last would
 * be waited for alone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongForItsSize), ...sorted.filter((file) => !isLongForItsSize(file))];
  }
}

const longForTheirSize = [
  'books/worked-books',
  'security/planted-secrets',
  'simulation/simulation',
  'workflows/slow-company',
  'workflows/killed-worker',
  'dbt/rules',
  'alerts/mistakes',
].map((name) => `/test/${name}.test.ts`);

function isLongForItsSize({ moduleId }: TestSpecification): boolean {
  return longForTheirSize.some((file) => moduleId.endsWith(file));
}
