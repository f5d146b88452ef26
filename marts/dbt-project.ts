import { fileURLToPath } from 'node:url';

/** The dbt project, which is next to this folder in a checkout and in an installed package. */
export const dbtProject: string = fileURLToPath(new URL('../dbt', import.meta.url));
