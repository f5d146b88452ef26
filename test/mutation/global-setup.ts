import type { TestProject } from 'vitest/node';

/** No product is built and no server started: the checks need a Postgres only, which lasts for the whole run of mutants. */
export default function setUp(project: TestProject): void {
  project.provide('postgresAdminUrl', process.env.MUTATION_POSTGRES_ADMIN_URL ?? '');
  project.provide('postgresUrl', process.env.MUTATION_POSTGRES_URL ?? '');
  project.provide('testFolder', '');
}
