import type { KeptData } from '../../../warehouse/connections/kept-data.ts';

/** Names, for people, the company that kept records belong to. */
export function describeCompany({ org_id, platform }: KeptData): string {
  if (org_id === null) return 'an unknown company';
  return `organization ${org_id}${platform === null ? '' : ` (${platform})`}`;
}
