import * as z from 'zod';
import { resourceNames } from '../api/resources.ts';
import type { ResourceName } from '../api/resources.ts';
import { dice } from '../data/dice.ts';
import type { Collection } from '../world/collection.ts';
import type { Command } from '../world/command.ts';
import type { StoredRecord } from '../world/stored-record.ts';
import type { World } from '../world/world.ts';

/** One day of activity: how many of the connection's records of each resource are changed, touched and deleted. */
export const activitySchema = z.strictObject({
  connection: z.string(),
  /** A different number selects different records. */
  seed: z.int().default(1),
  resources: z.array(z.enum(resourceNames)).default([...resourceNames]),
  changes: z.int().min(0).default(0),
  touches: z.int().min(0).default(0),
  deletes: z.int().min(0).default(0),
});

export type ActivityInput = z.input<typeof activitySchema>;

/** Selects the records. Changes keep the books consistent: only texts and states without consequences are edited. */
export function planActivity(world: World, activity: z.output<typeof activitySchema>): Command[] {
  const connection = world.connectionNamed(activity.connection);
  return activity.resources
    .filter((resource) => connection.platform.lists.includes(resource))
    .flatMap((resource) => planFor(connection.collections[resource], resource, activity));
}

function planFor(
  collection: Collection,
  resource: ResourceName,
  activity: z.output<typeof activitySchema>,
): Command[] {
  const { connection, seed, changes, touches, deletes } = activity;
  const chosen = choose(collection, changes + touches + deletes, dice(`activity/${seed}/${resource}`));
  const target = (record: StoredRecord) => ({ connection, resource, id: record.id });
  const touched = chosen.slice(changes, changes + touches).map(({ id }) => id);
  return [
    ...chosen.slice(0, changes).map((record, number): Command => {
      const patch = patches[resource].replace('#', `${seed}.${number + 1}`);
      return { kind: 'change', ...target(record), patch, remove: [] };
    }),
    ...(touched.length > 0 ? [{ kind: 'touch' as const, connection, resource, ids: touched }] : []),
    ...chosen
      .slice(changes + touches)
      .map((record): Command => ({ kind: 'delete', ...target(record), event: true, byService: false })),
  ];
}

function choose(collection: Collection, count: number, chance: (index: number) => number): StoredRecord[] {
  return collection
    .all()
    .map((record, index) => ({ record, rank: chance(index) }))
    .sort((left, right) => left.rank - right.rank)
    .slice(0, count)
    .map(({ record }) => record);
}

const patches: Record<ResourceName, string> = {
  bills: '{"memo":"Checked again, #"}',
  expenses: '{"memo":"Receipt found, #"}',
  bill_credit_memos: '{"memo":"Confirmed by the vendor, #"}',
  customers: '{"contact_name":"New contact #"}',
  items: '{"code":"SKU-NEW-#"}',
  subscriptions: '{"platform_customer_id":"cus_moved_#"}',
};
