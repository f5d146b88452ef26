import type { VNode } from 'preact';

/** Lists are shown by the page, the newest first. */
export const pageLength = 50;

/** One more than a page is read, to know whether there is a next one. */
export function pageOf<Row>(rows: readonly Row[]): { shown: readonly Row[]; last: Row | undefined } {
  const shown = rows.slice(0, pageLength);
  return { shown, last: rows.length > pageLength ? shown.at(-1) : undefined };
}

export function Pager({
  newest,
  older,
}: {
  newest: string | undefined;
  older: string | undefined;
}): VNode | null {
  if (newest === undefined && older === undefined) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {newest === undefined ? null : <a href={newest}>Newest</a>}
      {older === undefined ? null : <a href={older}>Older</a>}
    </nav>
  );
}
