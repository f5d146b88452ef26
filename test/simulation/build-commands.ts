import type { ResourceName } from '../../sandbox/api/resources.ts';
import type { CommandInput } from '../../sandbox/world/command.ts';
import { createChance } from '../day/chance.ts';
import { newRecord, buildPatch } from '../day/source-records.ts';
import { isIncident, type Change } from './history.ts';
import type { TrueRecord } from './true-record.ts';

/** The sandbox commands for a change of a record. `now` is the service's time, Unix milliseconds. */
export function buildCommands(
  { what, which }: Change,
  record: TrueRecord,
  { connection, now, version }: { connection: string; now: number; version: number },
): CommandInput[] {
  const { resource, id, sourceId } = record;
  const target = { connection, resource, id: sourceId };
  const chance = createChance(`${which}/${id}/${record.version}/${now}`);
  const edit = (more: Record<string, string> = {}): CommandInput => ({
    kind: 'change',
    ...target,
    patch: withMembers(buildPatch(resource, chance), more),
  });
  const spoil: CommandInput = { kind: 'change', ...target, patch: `{"${editedMembers[resource]}":42}` };
  const timed = resource !== 'subscriptions';
  if (isIncident(what)) throw new Error(`${what} is not a change of records.`);
  switch (what) {
    case 'create':
    case 'create late':
    case 'create with old times':
    case 'create in the future':
    case 'create with an odd id':
    case 'turn back': {
      const text = newRecord(resource, { id: sourceId, time: version, chance });
      record.isRefund = text.includes('"refund"');
      const keepLastSyncedAt = !['create', 'create with an odd id'].includes(what);
      return [{ kind: 'add', connection, resource, record: text, keepLastSyncedAt }];
    }
    case 'create spoiled': {
      const text = newRecord(resource, { id: sourceId, time: version, chance });
      record.isRefund = text.includes('"refund"');
      return [{ kind: 'add', connection, resource, record: text }, spoil];
    }
    case 'create without an id': {
      const text = newRecord(resource, { id: sourceId, time: version, chance });
      const unnamed = text.replace(/"id":"[^"]*",/, '');
      return [{ kind: 'add', connection, resource, record: unnamed }];
    }
    case 'edit':
    case 'correct at the same time':
      return [edit()];
    case 'edit without a time':
      return [edit(timed ? { updated_at: 'null' } : {})];
    case 'edit with an old time':
      return [edit(timed ? { updated_at: '"2023-01-31T23:59:59.999Z"' } : {})];
    case 'edit in the future':
      return [edit(timed ? {} : { updated_at: JSON.stringify(new Date(version).toISOString()) })];
    case 'write A':
    case 'write B':
      return [{ kind: 'change', ...target, patch: `{"${editedMembers[resource]}":${JSON.stringify(what)}}` }];
    case 'write odd texts': {
      const odd = JSON.stringify(oddTexts[which % oddTexts.length]);
      return [{ kind: 'change', ...target, patch: `{"${editedMembers[resource]}":${odd}}` }];
    }
    case 'flip the type':
      return [edit({ expense_type: record.isRefund ? '"expense"' : '"refund"' })];
    case 'spoil':
      return [spoil];
    case 'touch':
      return [{ kind: 'touch', connection, resource, ids: [sourceId] }];
    case 'delete':
    case 'delete unnoticed':
      return [{ kind: 'delete', ...target, event: what === 'delete' && !record.nameless }];
    case 'recreate as it was':
      return [{ kind: 'recreate', ...target }];
    case 'recreate':
      // A subscription has no `last_synced_at`: only its `updated_at` shows that it lives again.
      return [{ kind: 'recreate', ...target }, ...(timed ? [] : [edit()])];
  }
}

const oddTexts = [
  'a\0b',
  '',
  ' ',
  '\u{1F600}\u202E',
  'null',
  '\\u0000',
  '"}],"bills":[',
  '\r\n\t',
  'é'.repeat(5_000),
];

/** The member that every edit writes, by resource. */
const editedMembers: Record<ResourceName, string> = {
  bills: 'memo',
  expenses: 'memo',
  bill_credit_memos: 'memo',
  customers: 'contact_name',
  items: 'code',
  subscriptions: 'platform_customer_id',
};

/** Values of `more` are JSON text. */
function withMembers(patch: string, more: Record<string, string>): string {
  const members = Object.entries(more).map(([name, value]) => `,"${name}":${value}`);
  return `${patch.slice(0, -1)}${members.join('')}}`;
}
