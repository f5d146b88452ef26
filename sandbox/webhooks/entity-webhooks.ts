import { inVersion } from '../api/api-version.ts';
import { resources } from '../api/resources.ts';
import type { ResourceName } from '../api/resources.ts';
import { dice } from '../data/dice.ts';
import type { CommandOf } from '../world/command.ts';
import type { Connection } from '../world/connection.ts';
import type { Executed } from '../world/open-world.ts';
import type { StoredRecord } from '../world/stored-record.ts';
import type { World } from '../world/world.ts';
import type { Webhook } from './webhook.ts';
import type { WebhookSettings } from './webhook-settings.ts';

/** Returns the webhooks that follow from a command that was just executed. */
export function entityWebhooks(
  world: World,
  settings: WebhookSettings,
  { command, result, at }: Executed,
): Iterable<Webhook> {
  const webhooksFor = (code: Code, target: Target) => entityWebhook(settings, code, target, world);
  switch (command.kind) {
    case 'change':
      return webhooksFor('UPDATED', command);
    case 'add':
      return webhooksFor(result.replaced === true ? 'UPDATED' : 'CREATED', {
        ...command,
        id: result.id ?? '',
      });
    case 'recreate':
      return webhooksFor('CREATED', command);
    case 'delete':
      return isKnown(command, world) ? webhooksFor('DELETED', command) : [];
    case 'apply-credit': {
      const { connection, memo, bills } = command;
      return [
        ...bills.flatMap(({ id }) => webhooksFor('UPDATED', { connection, resource: 'bills', id })),
        ...webhooksFor('UPDATED', { connection, resource: 'bill_credit_memos', id: memo }),
      ];
    }
    case 'touch':
      return settings.touched === 0
        ? []
        : touchedWebhooks(settings, world.connectionNamed(command.connection), command, at);
    case 'add-connection':
    case 'make-ready':
    case 'refuse':
    case 'set-clock':
      return [];
  }
}

/** Section 3: a deletion that the service does not detect sends no webhook and leaves no event. It always knows its own writes (6.2). */
function isKnown({ connection, resource, event, byService }: CommandOf<'delete'>, world: World): boolean {
  return byService || (event && world.connectionNamed(connection).platform.deletionEvents.includes(resource));
}

function entityWebhook(
  settings: WebhookSettings,
  code: Code,
  { connection, resource, id }: Target,
  world: World,
): Webhook[] {
  const owner = world.connectionNamed(connection);
  const collection = owner.collections[resource];
  const record = code === 'DELETED' ? collection.deleted(id) : collection.get(id);
  return record === null ? [] : render(settings, owner, { resource, code, record });
}

/**
 * A million records may be touched at once, so they are walked only when there is room to send, and again for each address.
 * The walk selects them by their sync time, which hardly any other record shares.
 */
function touchedWebhooks(
  settings: WebhookSettings,
  owner: Connection,
  { resource }: CommandOf<'touch'>,
  at: number,
): Iterable<Webhook> {
  const chance = dice(`touched/${settings.seed}`);
  return {
    *[Symbol.iterator]() {
      let position = 0;
      const from = { time: at, id: '' };
      for (const record of owner.collections[resource].walk({
        field: 'last_synced_at',
        descending: false,
        from,
      })) {
        if (record.lastSyncedAt !== at) return;
        position += 1;
        if (chance(position) < settings.touched * 2 ** 32)
          yield* render(settings, owner, { resource, code: 'UPDATED', record });
      }
    },
  };
}

function render(
  { version }: WebhookSettings,
  { name, id, accessToken, collections }: Connection,
  { resource, code, record }: RecordChange,
): Webhook[] {
  const { webhookType: type, singular } = resources[resource];
  if (type === null) return [];
  const text = inVersion(version, resource, collections[resource].text(record));
  const body =
    `{"type":"${type}","code":"${type}_${code}","access_token":${JSON.stringify(accessToken)},` +
    `"connection_id":"${id}","${singular}":${text}}`;
  return [{ type, code: `${type}_${code}`, connection: name, recordId: record.id, body }];
}

type Code = 'CREATED' | 'UPDATED' | 'DELETED';

interface Target {
  readonly connection: string;
  readonly resource: ResourceName;
  readonly id: string;
}

interface RecordChange {
  readonly resource: ResourceName;
  readonly code: Code;
  readonly record: StoredRecord;
}
