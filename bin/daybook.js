#!/usr/bin/env node
import { existsSync } from 'node:fs';

// In a checkout the sources run as they are; an installed package has only what `npm run build` made of them.
const isCheckout = existsSync(new URL('../tsconfig.json', import.meta.url));

if (isCheckout) {
  await runSources();
} else {
  // A stack names the sources, which takes a while: so only where somebody asks for one.
  if (process.argv.includes('--verbose')) process.setSourceMapsEnabled(true);
  await import('../dist/cli/main.js');
}

async function runSources() {
  try {
    await import('../scripts/load-typescript.mjs');
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    console.error('The npm packages are not installed; run npm start or npm install first.');
    process.exit(1);
  }
  await import('../cli/main.ts');
}
