import type { ComponentChildren, VNode } from 'preact';

/** A part of a page; `more` links to the whole list. */
export function Section({
  title,
  more,
  children,
}: {
  title: string;
  more?: string;
  children: ComponentChildren;
}): VNode {
  const id = `section-${title.toLowerCase()}`;
  return (
    <section aria-labelledby={id} class="section">
      <div class="section-head">
        <h2 id={id}>{title}</h2>
        {more === undefined ? null : (
          <a href={more} aria-label={`All of ${title}`}>
            All
          </a>
        )}
      </div>
      {children}
    </section>
  );
}
