import type { Dashboard } from './read-dashboard.ts';

export interface Choices {
  readonly connections: readonly string[];
  /** Of each connection, '' being all of them: its currencies, the one with most open bills first. */
  readonly currencies: Readonly<Record<string, readonly string[]>>;
}

export interface Chosen {
  readonly connection: string;
  readonly currency: string;
}

/** What there is to choose from. The key figures have a row for each connection and currency there is money in. */
export function choicesOf({ charts, connections }: Pick<Dashboard, 'charts' | 'connections'>): Choices {
  const views = charts.find(({ id }) => id === 'key-figures')?.views ?? [];
  const names = connections.map(({ connection_id: name }) => name);
  return {
    connections: names,
    currencies: Object.fromEntries(
      ['', ...names].map((name) => [
        name,
        views.filter(({ connection }) => connection === name).map(({ currency }) => currency ?? ''),
      ]),
    ),
  };
}

/** What was asked for where there is such a thing; otherwise all connections, and the currency with most open bills. */
export function chosenOf(choices: Choices, query: URLSearchParams): Chosen {
  const connection = choices.connections.find((name) => name === query.get('connection')) ?? '';
  const currencies = choices.currencies[connection] ?? [];
  return {
    connection,
    currency: currencies.find((code) => code === query.get('currency')) ?? currencies[0] ?? '',
  };
}
