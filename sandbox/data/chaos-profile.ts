/**
 * `flaky` breaks 5% of the requests; `nasty` puts awkward values into 1% of the records; `future` gives 5% of the
 * records fields and enum values that do not exist yet.
 */
export const chaosProfiles = ['none', 'flaky', 'nasty', 'future'] as const;

export type ChaosProfile = (typeof chaosProfiles)[number];
