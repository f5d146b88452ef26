import { readFile } from 'node:fs/promises';
import { mutants, withMistake } from './mutants.ts';
for (const m of mutants) { try { withMistake(m, await readFile(new URL(`../../${m.file}`, import.meta.url), 'utf8')); } catch (e) { console.log(String(e)); } }
console.log(mutants.length);
