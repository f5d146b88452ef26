import type { VNode } from 'preact';

/** The number of rows on a page of a list, newest first. */
export const pageLength = 50;

/** Takes one row more than a page, to know whether there is a next page. */
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
  return <PageLinks links={{ Newest: newest, Older: older }} />;
}

/** Links to other pages of a list, by label. Undefined: there is no such page. */
export function PageLinks({ links }: { links: Readonly<Record<string, string | undefined>> }): VNode | null {
  const there = Object.entries(links).flatMap(([words, href]) =>
    href === undefined ? [] : [{ words, href }],
  );
  if (there.length === 0) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {there.map(({ words, href }) => (
        <a key={words} href={href}>
          {words}
        </a>
      ))}
    </nav>
  );
}
