import { writeFile } from 'node:fs/promises';
import { reference } from './reference.ts';

// npm run reference
await writeFile(new URL('../../docs/reference.md', import.meta.url), reference());
