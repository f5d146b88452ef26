import type { VNode } from 'preact';
import type { View } from '../view.ts';
import { CellContent } from './cell-content.tsx';

/** One tile for each row: a figure's name, its number, and a number to compare it with. */
export function Tiles({ view }: { view: View | undefined }): VNode {
  return (
    <dl class="tiles" data-tiles>
      {view?.rows.map(([name = '', value = '', note = '']) => (
        <div key={name}>
          <dt>
            <CellContent cell={name} />
          </dt>
          <dd class="tile-value">
            <CellContent cell={value} />
          </dd>
          <dd class="tile-note">
            <CellContent cell={note} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
