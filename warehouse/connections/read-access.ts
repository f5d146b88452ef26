import { KeyRotated, UnknownConnection } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { fingerprintSetting } from '../secrets/check-secret-key.ts';
import type { SecretKey } from '../secrets/secret-key.ts';
import { keyFingerprint, openToken, tokenMark } from '../secrets/sealed-token.ts';

/** Thrown for a connection of another API address: its token must not be sent to this one. */
export class OtherWorld extends Error {
  override readonly name = 'OtherWorld';
  readonly handling = 'stop';

  constructor(connectionId: string, addedUnder: string) {
    super(
      `${connectionId} was added under the API address ${addedUnder}, which is not the one Daybook runs with. ` +
        'Set DAYBOOK_API_URL to that address, or add the connection again under another name.',
    );
  }
}

export interface ConnectionAccess {
  token: string;
  /** Distinguishes this token from others. */
  mark: string;
  expandPlatformData: boolean;
}

/** Opens the connection's token. Throws UnknownConnection, OtherWorld, KeyRotated, WrongSecretKey. */
export async function readAccess(
  { db }: Warehouse,
  key: SecretKey,
  input: { connectionId: string; apiAddress: string },
): Promise<ConnectionAccess> {
  // Read before the row: a rotation replaces the key after the rows.
  const bytes = await key();
  const connection = await db
    .selectFrom('sync.connections')
    .select(['api_address', 'token_sealed', 'expand_platform_data'])
    .select((expression) =>
      expression
        .selectFrom('sync.settings')
        .select('value')
        .where('name', '=', fingerprintSetting)
        .as('fingerprint'),
    )
    .where('connection_id', '=', input.connectionId)
    .executeTakeFirst();
  if (connection === undefined) throw new UnknownConnection(input.connectionId);
  if (connection.api_address !== input.apiAddress)
    throw new OtherWorld(input.connectionId, connection.api_address);
  if (connection.fingerprint !== keyFingerprint(bytes)) throw new KeyRotated();
  const token = openToken(bytes, { connectionId: input.connectionId, sealed: connection.token_sealed });
  return {
    token,
    mark: tokenMark(connection.token_sealed),
    expandPlatformData: connection.expand_platform_data,
  };
}
