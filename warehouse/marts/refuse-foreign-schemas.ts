import type { ClientBase } from 'pg';
import { ForeignSchema } from '../errors.ts';

/**
 * Refuses to drop schemas that somebody else has created since the first migration. Builds have always marked theirs with a comment; if a restore has
 * left it out, an empty schema may be dropped as well. Throws ForeignSchema.
 */
export async function refuseForeignSchemas(client: ClientBase, schemas: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select nspname::text as name from pg_namespace
     where nspname = any($1)
       and coalesce(obj_description(oid, 'pg_namespace'), '') not like 'Daybook: %'
       and exists (select from pg_depend where refclassid = 'pg_namespace'::regclass and refobjid = pg_namespace.oid)
     order by 1 desc`,
    [schemas],
  );
  if (rows.length > 0) throw new ForeignSchema(rows.map(({ name }) => name));
}
