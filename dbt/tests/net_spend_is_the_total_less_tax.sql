-- If only the header of a bill tells its tax, and the net amount of every line is known, the lines' net amounts are the total
-- less that tax.
with spend as (
    select
        connection_id,
        document_id as bill_id,
        {{ daybook.whole_sum('net_amount') }} as net_amount
    from {{ ref('spend_lines') }}
    where source_type = 'bill'
    group by connection_id, document_id
)

select
    bills.connection_id,
    bills.bill_id,
    spend.net_amount
from {{ ref('bills') }} as bills
inner join {{ ref('int_bills__taxed') }} as taxed
    on bills.connection_id = taxed.connection_id and bills.bill_id = taxed.bill_id
inner join spend
    on bills.connection_id = spend.connection_id and bills.bill_id = spend.bill_id
where
    (taxed.header_tax = 'on_top' or taxed.only_net_amount is not null)
    and abs(spend.net_amount - bills.total_amount + bills.tax_amount) > {{ daybook.noise('bills.currency_code') }}
