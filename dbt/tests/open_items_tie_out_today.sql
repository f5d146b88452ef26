-- Today's open amount is the one that the documents tell, plus settlements dated after today unless they were not deducted yet,
-- if it is more than noise.
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

settlements as (
    select
        connection_id,
        document_type,
        document_id,
        {{ daybook.whole_sum('allocated_amount', 'coalesce(counted_date > ' ~ daybook.as_of_date() ~ ', false)') }} as to_come,
        {{ daybook.whole_sum('allocated_amount', 'coalesce(counted_date <= ' ~ daybook.as_of_date() ~ ', true)') }} as counted
    from {{ ref('int_ap_allocations__signed') }}
    group by connection_id, document_type, document_id
),

settled as (
    select
        documents.*,
        case when settlements.document_id is null then 0 else settlements.to_come end as to_come,
        documents.total_amount - case when settlements.document_id is null then 0 else settlements.counted end as left_amount
    from documents
    left join settlements
        on
            documents.connection_id = settlements.connection_id
            and documents.document_type = settlements.document_type
            and documents.document_id = settlements.document_id
),

-- Future settlements may be deducted already, or not: nothing is due twice.
open_documents as (
    select
        connection_id,
        currency_code,
        case
            when open_amount is null or to_come is null then null
            when to_come > 0 and left_amount is not null
                then least(open_amount + to_come, greatest(open_amount, left_amount))
            when to_come < 0 and left_amount is not null
                then greatest(open_amount + to_come, least(open_amount, left_amount))
            else open_amount + to_come
        end as open_amount
    from settled
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
        and {{ daybook.same_value('expected.currency_code', 'found.currency_code') }}
where expected.open_amount is distinct from case when found.connection_id is null then 0 else found.open_amount end
