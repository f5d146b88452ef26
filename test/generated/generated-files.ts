import { copiedStreams, financeSources, unfitColumns } from './finance-sources.ts';
import { reference } from './reference.ts';

/** The files of the repository that "npm run generate" writes from other files, by path. */
export const generatedFiles: Readonly<Record<string, () => string>> = {
  'docs/reference.md': reference,
  'dbt/models/staging/_sources.yml': financeSources,
  'dbt/macros/capture/copied_streams.sql': copiedStreams,
  'dbt/macros/capture/unfit_columns.sql': unfitColumns,
};
