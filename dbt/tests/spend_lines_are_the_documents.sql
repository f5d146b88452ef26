-- Bills plus expenses, less refunds and vendor credits: to the digit, in every currency.
with documents as (
    select
        connection_id,
        currency_code,
        total_amount as amount
    from {{ ref('bills') }}
    where posting_status <> 'excluded'
    union all
    select
        connection_id,
        currency_code,
        -total_amount as amount
    from {{ ref('vendor_credits') }}
    where posting_status <> 'excluded'
    union all
    select
        connection_id,
        currency_code,
        signed_amount as amount
    from {{ ref('expenses') }}
),

expected as (
    select
        connection_id,
        currency_code,
        coalesce(sum(amount), 0) as amount
    from documents
    group by connection_id, currency_code
),

found as (
    select
        connection_id,
        currency_code,
        coalesce(sum(gross_amount), 0) as amount
    from {{ ref('spend_lines') }} as lines
    -- A document whose total does not fit has no balancing line to compare with.
    where
        not exists (
            select 1
            from {{ ref('bills') }} as bills
            where
                bills.connection_id = lines.connection_id
                and bills.bill_id = lines.document_id
                and lines.source_type = 'bill'
                and bills.total_amount is null
        )
        and not exists (
            select 1
            from {{ ref('vendor_credits') }} as credits
            where
                credits.connection_id = lines.connection_id
                and credits.vendor_credit_id = lines.document_id
                and lines.source_type = 'vendor_credit'
                and credits.total_amount is null
        )
    group by connection_id, currency_code
)

select
    expected.connection_id,
    expected.currency_code,
    expected.amount,
    found.amount as found_amount
from expected
left join found
    on
        expected.connection_id = found.connection_id
        and expected.currency_code is not distinct from found.currency_code
where expected.amount <> coalesce(found.amount, 0)
