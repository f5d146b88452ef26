import type { VNode } from 'preact';
import { ServedPage } from './served-page.tsx';

/** Says that there is nothing to show yet, and what to do about it. */
export function MissingPage({ why, path }: { why: string; path: string }): VNode {
  return (
    <ServedPage path={path}>
      <main id="main" tabIndex={-1}>
        <h1>Dashboard</h1>
        <p class="lead">Accounts payable, spend, cash and recurring revenue, out of the marts.</p>
        <p class="empty">{why}</p>
      </main>
    </ServedPage>
  );
}
