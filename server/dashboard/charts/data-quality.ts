import * as z from 'zod';
import { defineChart, type Chart } from '../chart.ts';

/** Oddities of the source's data. */
export const dataQuality: Chart = defineChart({
  id: 'data-quality',
  title: 'Data quality',
  about:
    'What the checks found odd about the records as the source has them. Nothing was changed there; amounts that are rounded or left out here are among them.',
  shownAs: 'table',
  marts: ['data_quality'],
  sql: `
select
  scope.connection_id, -- null: all connections together
  replace(check_name, '_', ' ') as finding,
  sum(failed_rows)::bigint as records,
  string_agg(quality.connection_id, ', ' order by quality.connection_id) filter (where failed_rows > 0) as found_in,
  string_agg(sample_ids, ', ') filter (where scope.connection_id is not null) as sample_ids
from marts.data_quality as quality
cross join lateral (values (quality.connection_id), (null)) as scope (connection_id)
group by scope.connection_id, check_name
order by scope.connection_id nulls first, records desc, finding`,
  row: z.object({
    connection_id: z.string().nullable(),
    finding: z.string(),
    records: z.number(),
    found_in: z.string().nullable(),
    sample_ids: z.string().nullable(),
  }),
  view(rows, { connection }) {
    const found = rows.filter(({ records }) => records > 0);
    return {
      sentence: `${found.length} of ${rows.length} checks found something.`,
      columns: [
        { head: 'Finding' },
        { head: 'Records', kind: 'number' },
        connection === '' ? { head: 'Connections' } : { head: 'The first five', kind: 'code' },
      ],
      rows: found.map(({ finding, records, found_in, sample_ids }) => [
        finding,
        records.toLocaleString('en-US'),
        (connection === '' ? found_in : sample_ids) ?? '',
      ]),
    };
  },
  empty: 'No check has run.',
});
