import { Command } from 'commander';
import { formatDuration } from '../../config/duration.ts';
import { proofs, type Proof } from './proofs.ts';
import { runProof } from './run-proof.ts';
import { readProven, writeProven } from './proven.ts';

const program = new Command('proof')
  .description(
    'Proves by mass what npm test shows by example. Takes hours; each result goes into docs/proof.md at once, with a hash of the sources it was run on.',
  )
  .argument('[names...]', `which ones: ${proofs.map(({ name }) => name).join(', ')}; all, when absent`)
  .option('--missing', 'only those that were not yet run on the present sources')
  .addHelpText('after', '\nExample:\n  $ npm run proof -- histories mistakes');

const { missing = false } = program.parse().opts<{ missing?: boolean }>();
const unknown = program.args.filter((name) => !proofs.some((proof) => proof.name === name));
if (unknown.length > 0) program.error(`There is no proof ${unknown.join(', ')}: see --help.`);
process.exitCode = await proveAll();

async function proveAll(): Promise<number> {
  let broken = 0;
  for (const proof of proofs.filter(({ name }) => program.args.length === 0 || program.args.includes(name)))
    if (!(await prove(proof))) broken += 1;
  return broken === 0 ? 0 : 1;
}

async function prove(proof: Proof): Promise<boolean> {
  const { name, title } = proof;
  const lacking = proof.lacks?.();
  if (lacking !== undefined) {
    say(`${name}: left out: ${lacking}.`);
    return true;
  }
  const known = (await readProven()).get(name);
  if (missing && known?.isOfTheseSources === true) {
    say(`${name}: ${known.seen}, as seen on ${known.on}.`);
    return known.holds;
  }
  say(`${name}: ${title} …`);
  const started = performance.now();
  const { seen, holds, lines } = proof.judge(await runProof(proof.run));
  const minutes = Math.max(1, Math.round((performance.now() - started) / 60_000));
  const took = formatDuration(minutes * 60_000);
  await writeProven({ name, title, seen, holds, took }, lines);
  say(`${name}: ${seen} (${took}).`);
  return holds;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
