import type { VNode } from 'preact';

export interface Choice {
  readonly name: string;
  readonly label: string;
  /** Undefined: there are too many to offer, so the user types. */
  readonly options: readonly string[] | undefined;
  /** Undefined: all. */
  readonly chosen: string | undefined;
}

/** Filters a list. It changes only the address, so that a filtered list can be bookmarked and sent. */
export function FilterForm({ action, choices }: { action: string; choices: readonly Choice[] }): VNode {
  return (
    <form method="get" action={action} class="filter" id="filter">
      {choices.map(({ name, label, options, chosen }) => (
        <label key={name}>
          {label}
          {options === undefined ? (
            <input
              type="search"
              name={name}
              id={`filter-${name}`}
              value={chosen}
              maxLength={100}
              autocomplete="off"
            />
          ) : (
            <select name={name} id={`filter-${name}`}>
              <option value="">All</option>
              {options.map((option) => (
                <option key={option} value={option} selected={option === chosen}>
                  {option}
                </option>
              ))}
            </select>
          )}
        </label>
      ))}
      <button type="submit" class="button">
        Show
      </button>
    </form>
  );
}
