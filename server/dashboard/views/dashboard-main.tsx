import type { VNode } from 'preact';
import { findChoices, resolveChoice } from '../choices.ts';
import { findView } from '../find-view.ts';
import type { Dashboard } from '../read-dashboard.ts';
import { Catalog } from './catalog.tsx';
import { ChartSection } from './chart-section.tsx';
import { Filter } from './filter.tsx';
import { FreshnessStrip } from './freshness-strip.tsx';
import { Headline } from './headline.tsx';

/** The whole dashboard for one choice, with the data that dashboard.js needs for the others. */
export function DashboardMain({ dashboard, query }: { dashboard: Dashboard; query: URLSearchParams }): VNode {
  const choices = findChoices(dashboard);
  const chosen = resolveChoice(choices, query);
  return (
    <main id="main" class="dashboard" tabIndex={-1}>
      <Headline dashboard={dashboard} />
      <FreshnessStrip connections={dashboard.connections} now={dashboard.readAt} />
      <Filter choices={choices} chosen={chosen} />
      <div class="charts">
        {dashboard.charts.map((chart) => (
          <ChartSection key={chart.id} chart={chart} view={findView(chart, chosen)} />
        ))}
      </div>
      <Catalog marts={dashboard.catalog} />
      <script
        type="application/json"
        id="dashboard-data"
        dangerouslySetInnerHTML={{
          __html: scriptText({ choices, charts: dashboard.charts.map(forBrowser) }),
        }}
      />
    </main>
  );
}

function forBrowser({ id, title, empty, views }: Dashboard['charts'][number]): object {
  return { id, title, empty, views };
}

/** Returns JSON that cannot end the element that holds it. */
function scriptText(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
