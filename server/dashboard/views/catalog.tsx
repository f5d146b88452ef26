import type { VNode } from 'preact';
import type { MartRead } from '../read-dashboard.ts';

/** The marts that the charts read, column by column. The links of the charts lead here, so they also work in a file that was sent to somebody. */
export function Catalog({ marts }: { marts: readonly MartRead[] }): VNode {
  return (
    <section class="catalog" aria-labelledby="marts-title">
      <h2 id="marts-title">Marts</h2>
      <p class="aside">
        What the charts read. Query them with <code>daybook sql "select … from marts.…"</code>.
      </p>
      {marts.map(({ mart, comment, columns }) => (
        <details key={mart} id={`mart-${mart}`} class="more">
          <summary>
            {mart} <span class="aside">{comment}</span>
          </summary>
          <div class="scroll" role="region" aria-label={`Columns of ${mart}`} tabIndex={0}>
            <table>
              <thead>
                <tr>
                  <th scope="col">Column</th>
                  <th scope="col">Type</th>
                  <th scope="col">What it is</th>
                </tr>
              </thead>
              <tbody>
                {columns.map((column) => (
                  <tr key={column.name}>
                    <th scope="row" class="code">
                      {column.name}
                    </th>
                    <td class="code">{column.type}</td>
                    <td class="text">{column.comment}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      ))}
    </section>
  );
}
