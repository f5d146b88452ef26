import { resources } from '../../resources/index.ts';
import type { Resource } from '../../resources/resource.ts';

/**
 * Returns an SQL condition over `sync.webhook_inbox`: the webhooks that hold content of a record of this resource. $1 is the connection, $2 the ID of
 * the record, $3 and $4 the part and the pattern of `idInJson`. A webhook about a copied record names it. Everything else, including what such a
 * webhook holds beside its record, has no reliable form: jobs quote requests and responses (API document 2.10), as text too, and unknown types may
 * appear. It matches if the ID occurs anywhere, unless the ID is blank, because blanks are everywhere. What another record says about this one stays
 * with that record.
 */
export function toldByWebhooks({ name }: Resource): string {
  return `${ofThisCompany} and payload <> '{}' and (
    resource = '${name}' and record_id = $2
    or $2 ~ '[^[:space:]]' and strpos(payload::text, $3) > 0 and (${besideItsRecord})::text ~ $4
  )`;
}

/** A webhook that came before the first sync found no connection with its identity; a job need not say whose it is. */
const ofThisCompany = `(
  connection_id = $1 or connection_id is null and (
    service_connection_id is null
    or service_connection_id = (select service_connection_id from sync.connections where connection_id = $1)
  )
)`;

const singularName = `case resource
    ${resources.map(({ name, singular }) => `when '${name}' then '${singular}'`).join('\n    ')}
  end`;

/**
 * The payload without its record, which is where `readWebhook` finds it. A body that Postgres refused as JSON, or would write out at many times its
 * length, is stored as a text and used as a whole.
 */
const besideItsRecord = `
  case when record_id is not null and jsonb_typeof(payload) = 'object' then payload - case
    when jsonb_typeof(payload -> ${singularName}) <> 'null' then ${singularName}
    else coalesce(lower(payload ->> 'type'), '')
  end else payload end`;
