import { alertsPage } from './pages/alerts.tsx';
import { connectionPage } from './pages/connection.tsx';
import { discrepanciesPage } from './pages/discrepancies.tsx';
import { overviewPage } from './pages/overview.tsx';
import { quarantinePage } from './pages/quarantine.tsx';
import { runPage } from './pages/run.tsx';
import { runsPage } from './pages/runs.tsx';
import { snapshotsPage } from './pages/snapshots.tsx';
import { webhooksPage } from './pages/webhooks.tsx';
import type { PageReader } from './page.ts';

export const pages: Readonly<Record<string, PageReader>> = {
  '/': overviewPage,
  '/connections/:connection': connectionPage,
  '/runs': runsPage,
  '/runs/:run': runPage,
  '/quarantine': quarantinePage,
  '/discrepancies': discrepanciesPage,
  '/snapshots': snapshotsPage,
  '/webhooks': webhooksPage,
  '/alerts': alertsPage,
};
