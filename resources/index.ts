import { billCreditMemos } from './bill-credit-memos.ts';
import { bills } from './bills.ts';
import { customers } from './customers.ts';
import { expenses } from './expenses.ts';
import { items } from './items.ts';
import type { Resource, Stream } from './resource.ts';
import { subscriptions } from './subscriptions.ts';
import { UnknownResource } from './unknown-resource.ts';

export const resources: readonly Resource[] = [
  bills,
  expenses,
  billCreditMemos,
  customers,
  items,
  subscriptions,
];

export const resourceNames: readonly string[] = resources.map((resource) => resource.name);

/** Throws UnknownResource. */
export function resourceNamed(name: string): Resource {
  const found = resources.find((resource) => resource.name === name);
  if (found === undefined) throw new UnknownResource([name], resourceNames);
  return found;
}

/** Returns the named resources in our own order, or all if none is named. Throws UnknownResource. */
export function resourcesNamed(names: readonly string[]): readonly Resource[] {
  const unknown = names.filter((name) => !resourceNames.includes(name));
  if (unknown.length > 0) throw new UnknownResource(unknown, resourceNames);
  return names.length === 0 ? resources : resources.filter(({ name }) => names.includes(name));
}

/** Every paged list of records, in display order. */
export const streams: readonly { readonly stream: Stream; readonly resource: Resource }[] = resources.flatMap(
  (resource) => resource.streams.map((stream) => ({ stream, resource })),
);

/** The one stream without records: deletions of all resources (API document 4.6). It is read after the others. */
export const eventsStream = 'events';

export const streamNames: readonly string[] = [...streams.map(({ stream }) => stream.name), eventsStream];

/** Throws if no stream has the name: names come from our own tables, so that is a defect, not bad input. */
export function streamNamed(name: string): { stream: Stream; resource: Resource } {
  const found = streams.find(({ stream }) => stream.name === name);
  if (found === undefined)
    throw new Error(`There is no stream ${name}; the streams are ${streamNames.join(', ')}.`);
  return found;
}
