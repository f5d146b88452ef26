import type { VNode } from 'preact';
import type { View } from '../view.ts';
import { CellContent } from './cell-content.tsx';

/** Every figure with every digit. The table scrolls, not the page, and can be focused by keyboard. */
export function Figures({ title, view }: { title: string; view: View | undefined }): VNode {
  return (
    <div class="scroll" role="region" aria-label={`Figures: ${title}`} tabIndex={0}>
      <table>
        <thead>
          <tr data-heads>
            {view?.columns.map(({ head, kind }) => (
              <th key={head} scope="col" class={kind}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody data-rows>
          {view?.rows.map((row, place) => (
            <tr key={place}>
              {row.map((cell, index) => (
                <td key={index} class={view.columns[index]?.kind}>
                  <CellContent cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
