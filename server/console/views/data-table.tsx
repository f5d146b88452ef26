import type { ComponentChildren, VNode } from 'preact';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly kind?: 'number' | 'text' | 'name';
}

/**
 * A table that turns each row into a card on a narrow screen. Its ARIA roles are explicit, because browsers drop the implicit
 * ones when a row is not displayed as a row.
 */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty,
  without,
}: {
  /** For screen readers only: the heading above says the same. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty: string;
  /** The head of a column that is left out on this page. */
  without?: string | undefined;
}): VNode {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const shownColumns = columns.filter(({ head }) => head !== without);
  return (
    <table role="table">
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {shownColumns.map(({ head, kind }) => (
            <th key={head} role="columnheader" scope="col" class={kind}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} id={keyOf(row)} role="row">
            {shownColumns.map((column) => (
              <Cell key={column.head} column={column} row={row} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell<Row>({ column: { head, cell, kind }, row }: { column: Column<Row>; row: Row }): VNode {
  const content = cell(row);
  if (kind === 'name') {
    return (
      <th role="rowheader" scope="row" class={kind}>
        {content}
      </th>
    );
  }
  // Zeros are dimmed, and empty cells are left out where rows are cards.
  const classes = [kind, content === 0 ? 'zero' : undefined].filter((name) => name !== undefined);
  return (
    <td role="cell" class={classes.join(' ')} data-head={head}>
      {content === null || content === undefined || content === '' ? null : <span>{shown(content)}</span>}
    </td>
  );
}

function shown(content: ComponentChildren): ComponentChildren {
  return typeof content === 'number' ? content.toLocaleString('en-US') : content;
}
