import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The test files that `checkCopy` asks for, in the order in which they must run. */
export function checksAsked(): string[] {
  return (process.env.MUTATION_CHECKS ?? '').split(',');
}

export class InOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = checksAsked();
    const findPosition = ({ moduleId, project }: TestSpecification): number =>
      order.indexOf(relative(project.config.root, moduleId));
    return Promise.resolve([...files].sort((a, b) => findPosition(a) - findPosition(b)));
  }
}
