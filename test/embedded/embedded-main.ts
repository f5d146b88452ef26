import { once } from 'node:events';
import { openHome } from '../../embedded/home.ts';
import { startEmbedded, type EmbeddedServers, type EmbeddedStep } from '../../embedded/start-embedded.ts';

/**
 * A process for tests to start and kill. Runs embedded servers on the home argv[2] until SIGTERM, and prints events as JSON lines. argv[3]
 * names the servers.
 */
export type Line =
  { readonly step: EmbeddedStep } | { readonly servers: EmbeddedServers } | { readonly error: string };

const [, , path = '', wanted = ''] = process.argv;

const asked = once(process, 'SIGTERM');
const staying = setInterval(() => undefined, 60_000);
try {
  const servers = await startEmbedded({
    home: await openHome(path),
    postgres: wanted.includes('postgres'),
    temporal: wanted.includes('temporal'),
    sandbox: wanted.includes('sandbox') ? {} : false,
    httpPort: 0,
    onStep: (step) => {
      print({ step });
    },
  });
  print({ servers });
  await asked;
  clearInterval(staying);
  await servers.stop();
} catch (error) {
  print({ error: error instanceof Error ? error.message : String(error) });
  clearInterval(staying);
  process.exitCode = 1;
}

function print(line: Line): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
