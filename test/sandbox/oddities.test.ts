import { expect, test } from 'vitest';
import { nastyOddities } from '../../sandbox/data/nasty-oddities.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';

test('the nasty profile makes about one record in a hundred awkward, and each is still valid JSON', async () => {
  const [plain, nasty] = await Promise.all([billsOf('none'), billsOf('nasty')]);
  const different = nasty.filter((line, index) => line !== plain[index]);
  expect(nasty).toHaveLength(plain.length);
  expect(different.length / nasty.length).toBeGreaterThan(0.005);
  expect(different.length / nasty.length).toBeLessThan(0.02);
  for (const line of nasty) JSON.parse(line);
  const text = different.join('\n');
  for (const trace of [String.raw`\u0000`, '123456789012345678.123456789', '-0', '"on_hold"', '2025-02-30']) {
    expect(text).toContain(trace);
  }
  expect(nastyOddities.some(({ landable }) => landable)).toBe(true);
  expect(nastyOddities.some(({ landable }) => !landable)).toBe(true);
});

test('the future profile adds fields and enum values that do not exist yet', async () => {
  const text = (await billsOf('future')).join('\n');
  for (const trace of ['"additional_fields"', '"pending_approval"', '"XCG"']) expect(text).toContain(trace);
});

async function billsOf(chaos: 'none' | 'nasty' | 'future'): Promise<string[]> {
  const sandbox = await startSandbox({ records: 10_000, chaos });
  const lines = await createSandboxAdmin(sandbox.adminUrl).content('acme-us', 'bills');
  await sandbox.close();
  return lines;
}
