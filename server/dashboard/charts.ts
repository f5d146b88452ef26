import type { Chart } from './chart.ts';
import { apAgeing } from './charts/ap-ageing.ts';
import { apTrend } from './charts/ap-trend.ts';
import { cashRequirements } from './charts/cash-requirements.ts';
import { dataQuality } from './charts/data-quality.ts';
import { duplicates } from './charts/duplicates.ts';
import { keyFigures } from './charts/key-figures.ts';
import { recurringRevenue } from './charts/recurring-revenue.ts';
import { spendByMonth } from './charts/spend-by-month.ts';
import { spendByVendor } from './charts/spend-by-vendor.ts';
import { syncHealth } from './charts/sync-health.ts';

/** The charts of the dashboard, in display order. */
export const charts: readonly Chart[] = [
  keyFigures,
  apAgeing,
  apTrend,
  cashRequirements,
  spendByMonth,
  spendByVendor,
  recurringRevenue,
  duplicates,
  dataQuality,
  syncHealth,
];
