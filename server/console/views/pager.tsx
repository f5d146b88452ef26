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
  return <PageLinks links={{ Newest: newest, Older: older }} />;
}

/** Where other pages of a list are, by what people call them; undefined: there is none. */
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
