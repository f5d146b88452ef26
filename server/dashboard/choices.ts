import type { Dashboard } from './read-dashboard.ts';

export interface Choices {
  /** What may be chosen; '' is all of them, which where there is only one is that one. */
  readonly connections: readonly string[];
  /** Of each connection, '' being all of them: its currencies, the one with most open bills first. */
  readonly currencies: Readonly<Record<string, readonly string[]>>;
}

export interface Chosen {
  readonly connection: string;
  readonly currency: string;
}

/** What there is to choose from. The key figures have a row for each connection and currency there is money in. */
export function choicesOf({
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
 * What was asked for where there is such a thing; otherwise all connections, or the first that shows something where all together
 * show nothing, and the currency with most open bills.
 */
export function chosenOf(choices: Choices, query: URLSearchParams): Chosen {
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

/** All together have no sum of what names no currency. */
function hasFigures({ currencies }: Choices, connection: string): boolean {
  return currencies[connection]?.some((code) => connection !== '' || code !== '') ?? false;
}
