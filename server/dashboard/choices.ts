import type { Dashboard } from './read-dashboard.ts';

export interface Choices {
  /** The connections that can be chosen. '' means all of them; if there is only one, '' is not offered. */
  readonly connections: readonly string[];
  /** The currencies of each connection ('' for all connections), the one with the most open bills first. */
  readonly currencies: Readonly<Record<string, readonly string[]>>;
}

export interface Chosen {
  readonly connection: string;
  readonly currency: string;
}

/** Returns the available choices. The key figures have a row for each connection and currency in which there is money. */
export function findChoices({
  charts,
  connections,
  offered: inOffer,
}: Pick<Dashboard, 'charts' | 'connections' | 'offered'>): Choices {
  const views = charts.find(({ id }) => id === 'key-figures')?.views ?? [];
  const canBeChosen = new Set(inOffer);
  const names = connections.map(({ connection_id: name }) => name).filter((name) => canBeChosen.has(name));
  const offered = connections.length === 1 ? names : ['', ...names];
  return {
    connections: offered,
    currencies: Object.fromEntries(
      offered.map((name) => [
        name,
        views.filter(({ connection }) => connection === name).map(({ currency }) => currency ?? ''),
      ]),
    ),
  };
}

/**
 * Returns the requested choice if it exists. Otherwise: all connections, or the first one with figures if all together have none, and the
 * currency with the most open bills.
 */
export function resolveChoice(choices: Choices, query: URLSearchParams): Chosen {
  const { connections } = choices;
  const connection =
    connections.find((name) => name === query.get('connection')) ??
    connections.find((name) => hasFigures(choices, name)) ??
    connections[0] ??
    '';
  const currencies = choices.currencies[connection] ?? [];
  return {
    connection,
    currency: currencies.find((code) => code === query.get('currency')) ?? currencies[0] ?? '',
  };
}

/** True if the choice has figures. All connections together have none for documents without a currency. */
function hasFigures({ currencies }: Choices, connection: string): boolean {
  return currencies[connection]?.some((code) => connection !== '' || code !== '') ?? false;
}
