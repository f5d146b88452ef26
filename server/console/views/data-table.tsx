import type { ComponentChildren, VNode } from 'preact';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly kind?: 'number' | 'text' | 'name';
}

/**
 * A table, which on a narrow screen becomes a card for each row. Its roles are written out, since browsers forget them when a
 * row is drawn as anything but a row.
 */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty,
  without,
}: {
  /** Read out, not shown: the heading above says the same. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty: string;
  /** The head of a column that says nothing on this page. */
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
  // Noughts step back, and an empty cell is left out where rows are cards.
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
