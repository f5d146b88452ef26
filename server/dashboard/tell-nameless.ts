import type { Choices } from './choices.ts';
import { findChoices } from './choices.ts';
import { unreadIn } from './chart.ts';
import { describeGap } from './gap.ts';
import { namelessSentence, type Nameless } from './nameless.ts';
import type { ChartRead, Freshness } from './read-dashboard.ts';
import type { Read } from './unread.ts';

/**
 * Adds a view where a chart has nothing to show for a choice, but documents without a currency may belong there, or months were not read to
 * their end. So the page says that there is nothing only if nothing is withheld.
 */
export function tellNameless({
  charts,
  connections,
  offered,
  reads,
  nameless,
  asOf,
}: {
  charts: readonly ChartRead[];
  connections: readonly Freshness[];
  /** The connections that can be chosen. */
  offered: readonly string[];
  reads: readonly Read[];
  nameless: Nameless;
  asOf: string;
}): ChartRead[] {
  const choices = everyChoice(findChoices({ charts, connections, offered }));
  return charts.map((chart) => ({
    ...chart,
    views: [
      ...chart.views,
      ...choices
        .filter((choice) => isOfSome(choice) && !chart.views.some((view) => isViewFor(view, choice)))
        .flatMap((choice) => {
          const sentence = namelessSentence(nameless, chart.nameless ?? [], choice.connection);
          const { connection } = choice;
          const gap = describeGap({ unknown: 0, more: unreadIn(chart, { asOf, connection, reads }) });
          if (sentence === undefined && gap === undefined) return [];
          return [{ ...choice, sentence: sentence ?? chart.empty, gap, columns: [], rows: [] }];
        }),
    ],
  }));
}

interface Choice {
  readonly connection: string;
  readonly currency: string;
}

function everyChoice({ currencies }: Choices): Choice[] {
  return Object.entries(currencies).flatMap(([connection, codes]) =>
    // A connection without any currency has a page too.
    (codes.length === 0 ? [''] : codes).map((currency) => ({ connection, currency })),
  );
}

/** False for a connection's choice “without a currency”, where such documents are shown themselves. */
function isOfSome({ connection, currency }: Choice): boolean {
  return connection === '' || currency !== '';
}

function isViewFor(view: ChartRead['views'][number], { connection, currency }: Choice): boolean {
  return view.connection === connection && (view.currency ?? currency) === currency;
}
