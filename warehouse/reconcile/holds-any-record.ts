import { sql, type RawBuilder } from 'kysely';
import { resources } from '../../resources/index.ts';

/** Whether the warehouse holds records of the resource that `s`, a row of `sync.streams`, belongs to. */
export const holdsAnyRecord: RawBuilder<boolean> = sql`(
  case s.resource
    ${sql.join(
      resources.map(
        ({ name }) => sql`when ${sql.lit(name)} then
          exists (select from finance.${sql.raw(name)} f where f.connection_id = s.connection_id)`,
      ),
      sql`\n`,
    )}
    else false
  end
)`;
