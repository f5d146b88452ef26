/** Who asks for a run. */
export type AskedBy = 'people' | 'schedules';

export interface Priority {
  readonly priorityKey: number;
  readonly fairnessKey?: string;
}

/** People's requests first, then schedules, then backfills, whoever requested them. Connections take turns: each has its fairness key. */
export function priorityOf(
  work: { readonly kind: string; readonly connection?: string },
  askedBy: AskedBy,
): Priority {
  const { kind, connection } = work;
  return {
    priorityKey: kind === 'backfill' ? priorities.backfills : priorities[askedBy],
    ...(connection !== undefined && { fairnessKey: connection }),
  };
}

/** Temporal's own default is 3. */
const priorities = { people: 2, schedules: 3, backfills: 4 } as const;
