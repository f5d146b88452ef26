-- Lines are rounded once; a header in the base currency is their sum.
with lines as (
    select
        connection_id,
        document_id as bill_id,
        sum(gross_amount_base) as total_amount_base
    from {{ ref('spend_lines') }}
    where source_type = 'bill'
    group by connection_id, document_id
    having count(*) = count(gross_amount_base)
)

select
    bills.connection_id,
    bills.bill_id,
    bills.total_amount_base,
    lines.total_amount_base as line_total
from {{ ref('bills') }} as bills
inner join lines on bills.connection_id = lines.connection_id and bills.bill_id = lines.bill_id
where bills.total_amount_base is distinct from lines.total_amount_base
