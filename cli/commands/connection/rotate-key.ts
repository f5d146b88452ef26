import { Command } from 'commander';
import { openHome } from '../../../embedded/home.ts';
import { adoptNextSecretKey, embeddedSecretKey, nextSecretKey } from '../../../embedded/secret-key.ts';
import { rotateSecretKey } from '../../../warehouse/secrets/rotate-secret-key.ts';
import { variables } from '../../../config/variables.ts';
import { UsageError } from '../../errors.ts';
import { print } from '../../printer.ts';
import { readConfig } from '../../settings.ts';
import { withWarehouse } from '../../with-warehouse.ts';
import { readSecret } from './read-secret.ts';

interface Options {
  newKeyStdin?: boolean;
  newKeyEnv?: string;
}

export function rotateKeyCommand(): Command {
  return new Command('rotate-key')
    .description('Re-encrypt all access tokens with a new key.')
    .option('--new-key-stdin', 'read the new key from standard input (if DAYBOOK_SECRET_KEY is set)')
    .option('--new-key-env <variable>', 'read the new key from this environment variable (not from .env)')
    .addHelpText(
      'after',
      `
If DAYBOOK_SECRET_KEY is not set, the key is a file in DAYBOOK_HOME: the command makes a new key and replaces the file.

Example:
  $ export NEW_KEY=$(openssl rand -base64 32) && npx daybook connection rotate-key --new-key-env NEW_KEY`,
    )
    .action(async (options: Options) => {
      const { secretKey } = readConfig();
      await (secretKey === undefined ? rotateInHome(options) : rotateConfigured(secretKey, options));
    });
}

/** Both keys are on disk during the rotation, so the next rotation can complete an interrupted one. */
async function rotateInHome({ newKeyStdin, newKeyEnv }: Options): Promise<void> {
  if (newKeyStdin !== undefined || newKeyEnv !== undefined) {
    throw new UsageError(
      'The key is a file in DAYBOOK_HOME, and this command makes the new one: leave out --new-key-stdin and --new-key-env.',
    );
  }
  const home = await openHome(readConfig().home);
  const { resealed } = await withWarehouse(async (warehouse) => {
    const keys = { from: await embeddedSecretKey(home), to: await nextSecretKey(home) };
    return rotateSecretKey(warehouse, keys);
  });
  await adoptNextSecretKey(home);
  print(`${inWords(resealed)} ${home.secretKeyFile} now holds the new key.`);
}

async function rotateConfigured(from: Buffer, { newKeyStdin = false, newKeyEnv }: Options): Promise<void> {
  const text = await readSecret('new key', {
    stdin: newKeyStdin,
    variable: newKeyEnv,
    options: '--new-key-stdin or --new-key-env VARIABLE',
  });
  const to = variables.DAYBOOK_SECRET_KEY.safeParse(text).data;
  if (to === undefined)
    throw new UsageError('The new key must be 32 bytes in base64; make one with: openssl rand -base64 32');
  const { resealed } = await withWarehouse((warehouse) => rotateSecretKey(warehouse, { from, to }));
  print(
    `${inWords(resealed)} Set DAYBOOK_SECRET_KEY to the new key wherever Daybook runs, and restart it; until then its runs wait.`,
  );
}

function inWords(resealed: number): string {
  return `Re-encrypted ${resealed} access ${resealed === 1 ? 'token' : 'tokens'}.`;
}
