select
    connection_id,
    document_id,
    position
from {{ ref('spend_lines') }}
where gross_amount_base is not null and fx_status not in ('base_currency', 'document_rate', 'seed_rate')
