-- What is open today is what the documents say, and what is dated after today, where it is more than noise.
with documents as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        currency_code,
        amount_due as open_amount,
        total_amount
    from {{ ref('bills') }}
    where posting_status = 'posted' and (issue_date is null or issue_date <= as_of_date)
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        vendor_credit_id as document_id,
        currency_code,
        -remaining_amount as open_amount,
        -total_amount as total_amount
    from {{ ref('vendor_credits') }}
    where posting_status = 'posted' and (issue_date is null or issue_date <= as_of_date)
),

future_allocations as (
    select
        documents.connection_id,
        documents.document_type,
        documents.document_id,
        documents.currency_code,
        documents.open_amount as told_amount,
        documents.total_amount,
        allocations.allocated_amount as open_amount
    from {{ ref('int_ap_allocations__signed') }} as allocations
    inner join documents
        on
            allocations.connection_id = documents.connection_id
            and allocations.document_type = documents.document_type
            and allocations.document_id = documents.document_id
    where allocations.counted_date > {{ daybook.as_of_date() }}
),

rolled_back as (
    select
        connection_id,
        document_type,
        currency_code,
        told_amount,
        total_amount,
        {{ daybook.whole_sum('open_amount') }} as open_amount
    from (
        select
            connection_id,
            document_type,
            document_id,
            currency_code,
            open_amount as told_amount,
            total_amount,
            open_amount
        from documents
        union all
        select
            connection_id,
            document_type,
            document_id,
            currency_code,
            told_amount,
            total_amount,
            open_amount
        from future_allocations
    ) as parts
    group by connection_id, document_type, document_id, currency_code, told_amount, total_amount
),

open_documents as (
    select
        connection_id,
        currency_code,
        {{ daybook.no_more_than_its_total('open_amount', 'told_amount', 'total_amount', 'document_type') }} as open_amount
    from rolled_back
),

expected as (
    select
        connection_id,
        currency_code,
        {{ daybook.whole_sum('open_amount') }} as open_amount
    from open_documents
    where open_amount is null or abs(open_amount) > {{ daybook.noise('currency_code') }}
    group by connection_id, currency_code
),

found as (
    select
        connection_id,
        currency_code,
        {{ daybook.whole_sum('open_amount') }} as open_amount
    from {{ ref('ap_open_items') }}
    where is_today
    group by connection_id, currency_code
)

select
    expected.*,
    found.open_amount as found_amount
from expected
left join found
    on
        expected.connection_id = found.connection_id
        and expected.currency_code is not distinct from found.currency_code
where expected.open_amount is distinct from case when found.connection_id is null then 0 else found.open_amount end
