/** People's requests first, then schedules, then backfills, whoever requested them. Temporal's own default is 3. */
export const priorities = { people: 2, schedules: 3, backfills: 4 } as const;
