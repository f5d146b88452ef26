import * as z from 'zod';
import { sandboxOptionsSchema } from './sandbox-options.ts';
import { startSandbox } from './start-sandbox.ts';

/**
 * Runs the sandbox as a separate process. It takes its options as one JSON argument, prints one JSON line when it is ready, and
 * stops on SIGTERM, SIGINT or, with `exitWithParent`, with its parent (whose end closes standard input).
 */
const { exitWithParent, ...options } = sandboxOptionsSchema
  .extend({ exitWithParent: z.boolean().default(false) })
  .parse(JSON.parse(process.argv[2] ?? '{}'));

const sandbox = await startSandbox(options);
const { url, adminUrl, connections } = sandbox;
process.stdout.write(`${JSON.stringify({ url, adminUrl, connections })}\n`);

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
if (exitWithParent) {
  process.stdin.once('close', stop);
  process.stdin.resume();
}

function stop(): void {
  process.stdin.destroy();
  void sandbox.close();
}
