import type { VNode } from 'preact';
import { Icon } from '../../frame/icon.tsx';
import { paths } from '../../frame/paths.ts';

/** Links to the connections whose deletions wait for approval. */
export function AskingConnections({ names }: { names: readonly string[] }): VNode {
  return (
    <article class="alert alert-question">
      <Icon name="warning" />
      <div>
        <h2>Deletions wait for approval</h2>
        <p>
          Reconciles found more records gone at the source than they delete without asking. The page of each
          connection says how many, and asks:
        </p>
        <ul>
          {names.map((name) => (
            <li key={name}>
              <a href={paths.connection(name)}>{name}</a>
            </li>
          ))}
        </ul>
      </div>
    </article>
  );
}
