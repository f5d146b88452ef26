#!/usr/bin/env node
import { existsSync } from 'node:fs';

// A checkout runs the sources directly; an installed package has only the output of `npm run build`.
const isCheckout = existsSync(new URL('../tsconfig.json', import.meta.url));

if (isCheckout) {
  await runSources();
} else {
  // Mapping stacks to the sources takes a while, so it is done only on request.
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
