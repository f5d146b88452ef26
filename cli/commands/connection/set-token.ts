import { Command } from 'commander';
import { setToken } from '../../../warehouse/connections/set-token.ts';
import { changeConnection } from '../../change-connection.ts';
import { print } from '../../printer.ts';
import { withWarehouse } from '../../with-warehouse.ts';
import { readToken, withTokenOptions, type TokenOptions } from './token-options.ts';

export function setTokenCommand(): Command {
  return withTokenOptions(new Command('set-token'))
    .description("Replace a connection's access token with another one for the same company.")
    .argument('<name>', 'the connection')
    .addHelpText(
      'after',
      '\nExample:\n  $ echo "$TOKEN" | npx daybook connection set-token acme-us --token-stdin',
    )
    .action(async (name: string, options: TokenOptions) => {
      const token = await readToken(options);
      const { resumed } = await withWarehouse(async (warehouse, settings) => {
        const key = await settings.secretKey();
        return changeConnection(
          { warehouse, settings },
          { connectionId: name, matters: (set) => set.resumed },
          () => setToken(warehouse, key, { connectionId: name, token }),
        );
      });
      print(`${name} has a new token${resumed ? ' and is resumed' : ''}.`);
    });
}
