import { writeFile } from 'node:fs/promises';
import { generatedFiles } from './generated-files.ts';

// npm run generate
for (const [path, make] of Object.entries(generatedFiles))
  await writeFile(new URL(`../../${path}`, import.meta.url), make());
