import type { TestProject } from 'vitest/node';

/** Builds no product and starts no server: the checks need only a Postgres, which lasts for the whole run of mutants. */
export default function setUp(project: TestProject): void {
  project.provide('postgresAdminUrl', process.env.MUTATION_POSTGRES_ADMIN_URL ?? '');
  project.provide('postgresUrl', process.env.MUTATION_POSTGRES_URL ?? '');
  project.provide('testFolder', '');
}
