import { text } from 'node:stream/consumers';
import { explain } from '../../cli/explain.ts';
import { createProgram } from '../../cli/program.ts';
import { mapConcurrently } from '../../workflows/map-concurrently.ts';

/**
 * Runs the command lines on standard input, a JSON list, as `daybook` would, but in one process, because most of the cost of a command is
 * its start.
 */
const lines = JSON.parse(await text(process.stdin)) as string[][];
await mapConcurrently(3, lines, run);
process.exit();

async function run(line: readonly string[]): Promise<void> {
  try {
    await createProgram(() => undefined).parseAsync([...line], { from: 'user' });
  } catch (error) {
    process.stderr.write(`${explain(error, { verbose: true })}\n`);
  }
}
