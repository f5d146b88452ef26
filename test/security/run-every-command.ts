import { createProgram } from '../../cli/program.ts';
import { mapConcurrently } from '../../workflows/map-concurrently.ts';
import { secrets } from './planted.ts';
import type { PlantedInstallation } from './planted-installation.ts';

type Program = ReturnType<typeof createProgram>;

/**
 * Runs every command with names that do not exist, every read-only command with valid arguments, and some commands with every mistake that a
 * configuration can have.
 */
export async function runEveryCommand({ daybook, env }: PlantedInstallation): Promise<void> {
  const commands = listCommands(createProgram(() => undefined));
  await daybook([
    ...commands.map((command) => [...command, 'nobody', 'nothing', '7']),
    ...readOnlyCommands,
    ...readOnlyCommands.map((command) => [...command, '--json']),
  ]);
  // The same with the password as a parameter of the address, as in `env`.
  const DATABASE_URL = env.DATABASE_URL ?? '';
  await daybook(
    [...readOnlyCommands, ['status', '--json'], ['doctor', '--json'], ['url'], ['psql', '--', '--version']],
    {
      DATABASE_URL,
    },
  );
  await mapConcurrently(3, wrongEnvironments(env), (more) =>
    daybook([['status'], ['doctor'], ['snapshots', 'list'], ['sync', 'acme']], more),
  );
}

/** All commands except those that run until they are stopped; `up` covers these. */
function listCommands(command: Program, prefix: readonly string[] = []): string[][] {
  const longRunning = ['up', 'tour', 'worker', 'serve', 'sandbox'];
  return command.commands
    .filter((sub) => !longRunning.includes(sub.name()))
    .flatMap((sub) => {
      const name = [...prefix, sub.name()];
      return sub.commands.length > 0 ? listCommands(sub, name) : [name];
    });
}

const readOnlyCommands = [
  ...[['status'], ['runs'], ['runs', 'acme'], ['discrepancies'], ['doctor'], ['quarantine', 'list']],
  ...[
    ['connection', 'list'],
    ['snapshots', 'list'],
    ['snapshots', 'verify'],
    ['prune', '--dry-run'],
  ],
];

/** One environment for each server's error, and one for the errors before any server is asked. */
function wrongEnvironments(env: PlantedInstallation['env']): Record<string, string>[] {
  const { databasePassword, s3Secret, temporalKey, token, wrongPassword } = secrets;
  const { port, host } = new URL(env.DATABASE_URL ?? '');
  const password = encodeURIComponent(databasePassword);
  const database = (rest: string): Record<string, string> => ({ DATABASE_URL: `postgres://daybook:${rest}` });
  const echoingS3 = {
    DAYBOOK_LAKE: 's3://bucket/prefix',
    AWS_REGION: 'us-east-1',
    AWS_SESSION_TOKEN: s3Secret,
    AWS_ENDPOINT_URL: new URL(env.DAYBOOK_API_URL ?? '').origin,
  };
  const nowhere = '127.0.0.1:9';
  return [
    { ...database(`${encodeURIComponent(wrongPassword)}@${host}/daybook`), ...echoingS3 },
    database(`${password}@${host}/nowhere`),
    database(`${password}@${nowhere}/daybook`),
    database(`${databasePassword}%@127.0.0.1:${port}/daybook`),
    { TEMPORAL_ADDRESS: nowhere, TEMPORAL_API_KEY: temporalKey, TEMPORAL_TLS: 'false' },
    { TEMPORAL_ADDRESS: nowhere, TEMPORAL_TLS_CLIENT_KEY_DATA: temporalKey },
    {
      ...Object.fromEntries(Object.keys(env).map((name) => [name, wrongPassword])),
      DAYBOOK_SECRET_KEY: secrets.nextSecretKey.toString('hex'),
      DAYBOOK_API_URL: `http://ops:${password}@127.0.0.1:9/v?token=${token}`,
    },
  ];
}
