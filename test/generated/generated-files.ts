import { copiedStreams, financeSources, unfitColumns } from './finance-sources.ts';
import { reference } from './reference.ts';

/** Files of the repository that are made of other files of it, by their path: "npm run generate" writes them. */
export const generatedFiles: Readonly<Record<string, () => string>> = {
  'docs/reference.md': reference,
  'dbt/models/staging/_sources.yml': financeSources,
  'dbt/macros/capture/copied_streams.sql': copiedStreams,
  'dbt/macros/capture/unfit_columns.sql': unfitColumns,
};
