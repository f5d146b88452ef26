import { setTimeout as wait } from 'node:timers/promises';
import type { ResourceName } from '../../sandbox/api/resources.ts';
import type { CommandInput } from '../../sandbox/world/command.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { createChance, type Chance } from './chance.ts';
import { goneAfter, type SourceOperation, type SourceOperationKind } from './source-operation.ts';
import { newRecord, buildPatch } from './source-records.ts';

/** A repeatable workload at the source, which changes, adds, deletes and restores records. */
export interface Workload {
  /** All operations so far, in order. */
  readonly operations: readonly SourceOperation[];
  /** Applies one kind of operation to a few records of one resource. */
  runNext(): Promise<void>;
}

export function createWorkload(input: {
  admin: SandboxAdmin;
  connections: readonly string[];
  seed: number;
}): Workload {
  const { admin, connections, seed } = input;
  const chance = createChance(`office/${seed}`);
  const operations: SourceOperation[] = [];
  return {
    operations: operations,
    async runNext() {
      const connection = chance.pick(connections);
      const resource = await someResource(admin, connection, chance);
      const kind = chance.pick(operationMix);
      const target = await readTarget(admin, { connection, resource, chance, operations });
      const { ids, commands } = plans[kind](target);
      if (ids.length === 0) return;
      const begunAt = Date.now();
      await admin.execute(...commands);
      // Waits for the next millisecond, because two versions with the same time could not be told apart.
      await wait(2);
      const doneAt = Date.now();
      const done = { kind, connection, resource, version: target.now, begunAt, doneAt };
      operations.push(...ids.map((id) => ({ ...done, id })));
    },
  };
}

/** The kinds of operations. A kind listed more often is picked more often. */
const operationMix: readonly SourceOperationKind[] = [
  ...(['changed', 'changed', 'changed', 'changed', 'touched', 'touched', 'added'] as const),
  ...(['added late', 'deleted', 'deleted', 'vanished', 'recreated', 'recreated'] as const),
];

interface Target {
  readonly connection: string;
  readonly resource: ResourceName;
  readonly chance: Chance;
  readonly live: readonly string[];
  readonly gone: readonly string[];
  /** The service's time. */
  readonly now: number;
  /** A new number each time. */
  readonly number: number;
}

interface Plan {
  readonly ids: readonly string[];
  readonly commands: readonly CommandInput[];
}

const plans: Record<SourceOperationKind, (target: Target) => Plan> = {
  changed: (target) => each(pickIds(target.live, target), (id) => [change(target, id)]),
  touched: (target) => {
    const ids = pickIds(target.live, target);
    const { connection, resource } = target;
    return { ids, commands: [{ kind: 'touch', connection, resource, ids }] };
  },
  added: (target) => add(target, { time: target.now, late: false }),
  'added late': (target) => add(target, { time: lateTime(target.chance), late: true }),
  deleted: (target) => remove(target, { event: true }),
  vanished: (target) => remove(target, { event: false }),
  recreated: (target) => {
    const { connection, resource } = target;
    return each(pickIds(target.gone, target), (id) => [
      { kind: 'recreate', connection, resource, id },
      // A subscription has no `last_synced_at`: only its `updated_at` shows that it exists again.
      ...(resource === 'subscriptions' ? [change(target, id)] : []),
    ]);
  },
};

function change({ connection, resource, chance }: Target, id: string): CommandInput {
  return { kind: 'change', connection, resource, id, patch: buildPatch(resource, chance) };
}

function add({ connection, resource, chance, number }: Target, when: { time: number; late: boolean }): Plan {
  const id = `new-${number}`;
  const record = newRecord(resource, { id, time: when.time, chance });
  return each([id], () => [{ kind: 'add', connection, resource, record, keepLastSyncedAt: when.late }]);
}

/** Deletes some records, but never nearly all of a company: that case needs approval, and is tested elsewhere. */
function remove(target: Target, { event }: { event: boolean }): Plan {
  const { connection, resource, live } = target;
  const ids = live.length > 10 ? pickIds(live, target) : [];
  return each(ids, (id) => [{ kind: 'delete', connection, resource, id, event }]);
}

function each(ids: readonly string[], commandsOf: (id: string) => CommandInput[]): Plan {
  return { ids, commands: ids.flatMap(commandsOf) };
}

function pickIds(ids: readonly string[], { chance }: Target): string[] {
  return chance.pickSome(ids, 1 + chance.below(4));
}

/** A time in the two years before the first sync. */
function lateTime(chance: Chance): number {
  return Date.UTC(2024, 0, 1) + chance.below(730) * 86_400_000 + chance.below(86_400_000);
}

async function someResource(admin: SandboxAdmin, connection: string, chance: Chance): Promise<ResourceName> {
  const { counts } = await admin.connection(connection);
  const names = Object.keys(counts) as ResourceName[];
  return chance.pick(names.filter((name) => counts[name] > 0));
}

async function readTarget(
  admin: SandboxAdmin,
  input: {
    connection: string;
    resource: ResourceName;
    chance: Chance;
    operations: readonly SourceOperation[];
  },
): Promise<Target> {
  const { connection, resource, operations } = input;
  const lines = await admin.content(connection, resource);
  const gone = [...goneAfter(operations, connection)].filter((name) => name.startsWith(`${resource}/`));
  return {
    ...input,
    live: lines.map((line) => (JSON.parse(line) as { id: string }).id),
    gone: gone.map((name) => name.slice(resource.length + 1)),
    now: await admin.now(),
    number: operations.length,
  };
}
