import { writeFile } from 'node:fs/promises';
import { resourceNamed } from '../../resources/index.ts';
import { generatedFiles } from './generated-files.ts';
import { resourceMigration } from './resource-migration.ts';

// npm run generate [-- 2027-01-15-departments]
const root = new URL('../../', import.meta.url);
for (const [path, make] of Object.entries(generatedFiles)) await writeFile(new URL(path, root), make());

const [, , migration] = process.argv;
if (migration !== undefined) {
  const [, resource = ''] = /^\d{4}-\d\d-\d\d-([a-z-]+)$/.exec(migration) ?? [];
  if (resource === '')
    throw new Error(
      `"${migration}" names no migration: write a day and a resource, as in 2027-01-15-departments.`,
    );
  const file = new URL(`warehouse/migrations/${migration}.ts`, root);
  // A migration is written once.
  await writeFile(file, resourceMigration(resourceNamed(resource.replaceAll('-', '_'))), { flag: 'wx' });
}
