import { listConnectionNames } from '../../../warehouse/connections/list-connections.ts';
import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import type { Choice } from '../views/filter-form.tsx';

/** More in a menu nobody finds, and they would be most of the page. */
const mostOffered = 200;

/** The connection that a list is narrowed to, out of those there are; where they are many, people write its name. */
export async function connectionChoice(warehouse: Warehouse, query: URLSearchParams): Promise<Choice> {
  const choice = { name: 'connection', label: 'Connection' };
  const options = await listConnectionNames(warehouse, { limit: mostOffered + 1 });
  if (options.length <= mostOffered) return choiceOf(query, { ...choice, options });
  return { ...choice, options: undefined, chosen: written(query, choice.name) };
}

/** What was written into a field, without spaces around it; no name is longer. */
export function written(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name)?.trim().slice(0, 100) ?? '';
  return text === '' ? undefined : text;
}

/** What is not among the options is not chosen. */
export function choiceOf(query: URLSearchParams, choice: Omit<Choice, 'chosen'>): Choice {
  const asked = query.get(choice.name);
  return { ...choice, chosen: choice.options?.find((option) => option === asked) };
}

/** The number after which a page of a list begins. */
export function numberBefore(query: URLSearchParams): number | undefined {
  const text = query.get('before') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
