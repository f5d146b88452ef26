import type { VNode } from 'preact';
import type { Dashboard } from '../read-dashboard.ts';
import { DashboardMain } from './dashboard-main.tsx';
import { ServedPage } from './served-page.tsx';

/** The dashboard as a page of the console. */
export function DashboardPage({
  dashboard,
  query,
  path,
}: {
  dashboard: Dashboard;
  query: URLSearchParams;
  path: string;
}): VNode {
  return (
    <ServedPage path={path}>
      <DashboardMain dashboard={dashboard} query={query} />
    </ServedPage>
  );
}
