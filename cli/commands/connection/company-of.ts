import type { KeptData } from '../../../warehouse/connections/kept-data.ts';

/** Whose kept records are, for a person. */
export function companyOf({ org_id, platform }: KeptData): string {
  if (org_id === null) return 'a company that is not known';
  return `organisation ${org_id}${platform === null ? '' : ` (${platform})`}`;
}
