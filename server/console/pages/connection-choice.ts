import { listConnectionNames } from '../../../warehouse/connections/list-connections.ts';
import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import type { Choice } from '../views/filter-form.tsx';

/** A longer menu is hard to use, and would be most of the page. */
const mostOffered = 200;

/** The connections that a list can be filtered by. If there are too many for a menu, the user types the name. */
export async function connectionChoice(warehouse: Warehouse, query: URLSearchParams): Promise<Choice> {
  const choice = { name: 'connection', label: 'Connection' };
  const options = await listConnectionNames(warehouse, { limit: mostOffered + 1 });
  if (options.length <= mostOffered) return readChoice(query, { ...choice, options });
  return { ...choice, options: undefined, chosen: written(query, choice.name) };
}

/** Returns the text of a field without surrounding spaces, cut to 100 characters: no name is longer. */
export function written(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name)?.trim().slice(0, 100) ?? '';
  return text === '' ? undefined : text;
}

/** A value that is not among the options is ignored. */
export function readChoice(query: URLSearchParams, choice: Omit<Choice, 'chosen'>): Choice {
  const asked = query.get(choice.name);
  return { ...choice, chosen: choice.options?.find((option) => option === asked) };
}

/** The number that a page of a list continues from. */
export function numberBefore(query: URLSearchParams): number | undefined {
  const text = query.get('before') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
