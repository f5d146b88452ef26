import type { VNode } from 'preact';
import type { View } from '../view.ts';
import { CellContent } from './cell-content.tsx';

/** Each row a figure: its name, its number, and what to compare it with. */
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
