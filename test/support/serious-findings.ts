import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** The findings of axe that keep people from using a page. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(axe, 'utf8'));
  const { violations } = await page.evaluate<{ violations: Finding[] }>(
    `axe.run({ resultTypes: ['violations'] })`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string }[];
}
