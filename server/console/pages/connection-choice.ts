import { listConnections } from '../../../warehouse/connections/list-connections.ts';
import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import type { Choice } from '../views/filter-form.tsx';

/** The connection that a list is narrowed to, out of those there are. */
export async function connectionChoice(warehouse: Warehouse, query: URLSearchParams): Promise<Choice> {
  const connections = await listConnections(warehouse);
  return choiceOf(query, {
    name: 'connection',
    label: 'Connection',
    options: connections.map(({ connection_id }) => connection_id),
  });
}

/** What is not among the options is not chosen. */
export function choiceOf(query: URLSearchParams, choice: Omit<Choice, 'chosen'>): Choice {
  const asked = query.get(choice.name);
  return { ...choice, chosen: choice.options.find((option) => option === asked) };
}

/** The number after which a page of a list begins. */
export function numberBefore(query: URLSearchParams): number | undefined {
  const text = query.get('before') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
