import type { VNode } from 'preact';
import type { ChartRead } from '../read-dashboard.ts';
import type { View } from '../view.ts';
import { Figures } from './figures.tsx';
import { Tiles } from './tiles.tsx';

/** One chart: the answer, its figures, and their sources. dashboard.js adds the drawing, if there is one. */
export function ChartSection({ chart, view }: { chart: ChartRead; view: View | undefined }): VNode {
  const { id, title, about, shownAs, empty } = chart;
  return (
    <section class={`chart chart-${shownAs}`} id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      <p class="sentence" data-sentence aria-live="polite">
        {view?.sentence ?? empty}
      </p>
      <p class="gap" data-gap aria-live="polite" hidden={view?.gap === undefined}>
        {view?.gap}
      </p>
      <p class="aside">{about}</p>
      <div data-content class={view === undefined ? 'unfilled' : undefined}>
        {shownAs === 'tiles' ? <Tiles view={view} /> : null}
        {shownAs === 'drawing' ? (
          <>
            <div class={`plot plot-${view?.drawing?.kind ?? 'columns'}`} data-plot />
            <ul class="legend" data-legend aria-hidden="true" />
          </>
        ) : null}
        {shownAs === 'table' ? (
          <Figures title={title} view={view} />
        ) : (
          <details class="more">
            <summary>Figures</summary>
            <Figures title={title} view={view} />
          </details>
        )}
      </div>
      <Origin chart={chart} />
    </section>
  );
}

function Origin({ chart: { id, title, sql, marts } }: { chart: ChartRead }): VNode {
  return (
    <>
      <details class="more">
        <summary>SQL</summary>
        <p class="aside">
          What was run, for all choices at once; what is shown are the rows of the chosen connection and
          currency.
        </p>
        <div class="scroll" role="region" aria-label={`SQL: ${title}`} tabIndex={0}>
          <pre id={`${id}-sql`}>{sql.trim()}</pre>
        </div>
        <button type="button" class="button" data-copy={`${id}-sql`} hidden>
          Copy
        </button>
      </details>
      <p class="aside marts">
        From{' '}
        {marts.map((mart, index) => (
          <>
            {index === 0 ? '' : ', '}
            <a href={`#mart-${mart}`}>{mart}</a>
          </>
        ))}
      </p>
    </>
  );
}
