/** How long open bills are overdue: the heads of columns, the columns of the marts, and the colors in charts. */
export const ageingBuckets = [
  { head: 'Not due', of: 'not_due', color: 'age-0' },
  { head: '1–30 days', of: 'days_1_30', color: 'age-1' },
  { head: '31–60 days', of: 'days_31_60', color: 'age-2' },
  { head: '61–90 days', of: 'days_61_90', color: 'age-3' },
  { head: 'Over 90 days', of: 'days_over_90', color: 'age-4' },
  { head: 'No due date', of: 'no_due_date', color: 'neutral' },
] as const;
