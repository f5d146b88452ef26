import type { VNode } from 'preact';
import type { Choices, Chosen } from '../choices.ts';

/** Chooses a connection and one currency. The address holds the choice; without JavaScript the server applies it. */
export function Filter({ choices, chosen }: { choices: Choices; chosen: Chosen }): VNode {
  return (
    <form method="get" class="filter" id="filter">
      <label>
        Connection
        <select name="connection">
          {choices.connections.map((name) => (
            <option key={name} value={name} selected={name === chosen.connection}>
              {name === '' ? 'All connections' : name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Currency
        <select name="currency">
          {choices.currencies[chosen.connection]?.map((code) => (
            <option key={code} value={code} selected={code === chosen.currency}>
              {code === '' ? 'without a currency' : code}
            </option>
          ))}
        </select>
      </label>
      <noscript>
        <button type="submit" class="button">
          Show
        </button>
      </noscript>
    </form>
  );
}
