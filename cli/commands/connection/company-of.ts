import type { KeptData } from '../../../warehouse/connections/kept-data.ts';

/** The company that kept records belong to, for a person. */
export function companyOf({ org_id, platform }: KeptData): string {
  if (org_id === null) return 'an unknown company';
  return `organization ${org_id}${platform === null ? '' : ` (${platform})`}`;
}
