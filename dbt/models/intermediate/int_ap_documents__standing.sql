-- The amount due on each posted document on each day, whether it is open then or dated ahead, and whether it is owed or owed
-- back: the only definition of these terms. Rolled back from the present documents: the amount due now plus the settlements after
-- the day, limited to the range between the amount due now and the total less the settlements by that day. So a payment that is
-- told but not yet deducted is not due twice. Undated settlements count as earlier. A document is included if the amount is more
-- than noise, half a minor unit; an unknown amount is not noise.
with documents as (
    select * from {{ ref('int_ap_documents__settled') }}
),

allocations as (
    select * from {{ ref('int_ap_allocations__signed') }}
),

days as (
    select * from {{ ref('int_ageing__dated') }}
),

settlements as (
    select
        connection_id,
        document_type,
        document_id,
        {{ daybook.whole_sum('allocated_amount') }} as settled_amount
    from allocations
    group by connection_id, document_type, document_id
),

-- Documents dated ahead of a past day are not needed.
parts as (
    select
        days.as_of_date,
        days.is_today,
        documents.connection_id,
        documents.document_type,
        documents.document_id,
        documents.currency_code,
        documents.issue_date,
        documents.open_amount as told_amount,
        documents.total_amount,
        documents.open_amount as amount
    from documents
    inner join days on documents.issue_date is null or documents.issue_date <= days.as_of_date or days.is_today
    where documents.open_amount is distinct from 0
    union all
    select
        days.as_of_date,
        days.is_today,
        documents.connection_id,
        documents.document_type,
        documents.document_id,
        documents.currency_code,
        documents.issue_date,
        documents.open_amount as told_amount,
        documents.total_amount,
        allocations.allocated_amount as amount
    from allocations
    inner join documents
        on
            allocations.connection_id = documents.connection_id
            and allocations.document_type = documents.document_type
            and allocations.document_id = documents.document_id
    inner join days
        on
            allocations.counted_date > days.as_of_date
            and (documents.issue_date is null or documents.issue_date <= days.as_of_date or days.is_today)
),

summed as (
    select
        as_of_date,
        is_today,
        connection_id,
        document_type,
        document_id,
        currency_code,
        coalesce(issue_date > as_of_date, false) as is_dated_ahead,
        told_amount,
        total_amount,
        cast({{ daybook.whole_sum('amount') }} as numeric(38, 9)) as rolled_back
    from parts
    group by
        as_of_date, is_today, connection_id, document_type, document_id, currency_code, issue_date, told_amount, total_amount
),

-- The total less all settlements of the document, plus the settlements after the day.
left_then as (
    select
        summed.*,
        cast(
            summed.total_amount - case when settlements.document_id is null then 0 else settlements.settled_amount end
            + summed.rolled_back - summed.told_amount
            as numeric(38, 9)
        ) as left_amount
    from summed
    left join settlements
        on
            summed.connection_id = settlements.connection_id
            and summed.document_type = settlements.document_type
            and summed.document_id = settlements.document_id
),

bounded as (
    select
        *,
        cast(
            case
                when rolled_back > told_amount and rolled_back > left_amount then greatest(told_amount, left_amount)
                when rolled_back < told_amount and rolled_back < left_amount then least(told_amount, left_amount)
                else rolled_back
            end as numeric(38, 9)
        ) as amount,
        -- If the settlements by then are not known, it cost no more than its total.
        coalesce(left_amount, total_amount) as cost_amount
    from left_then
),

-- A bill below 0, or overpaid, is owed by the vendor: a credit, without a due date. A vendor credit below 0 is to be paid.
judged as (
    select
        *,
        case when amount is null then document_type = 'vendor_credit' else amount < 0 end as is_credit,
        case
            when document_type = 'vendor_credit' or amount < 0 then 0
            when amount is null then null
            when cost_amount > 0 then greatest(amount - cost_amount, 0)
            when cost_amount <= 0 then amount
        end as beyond_total
    from bounded
    where amount is null or abs(amount) > {{ daybook.noise('currency_code') }}
)

select
    as_of_date,
    is_today,
    connection_id,
    document_type,
    document_id,
    is_dated_ahead,
    is_credit,
    amount,
    cast(
        case when beyond_total <= {{ daybook.noise('currency_code') }} then 0 else beyond_total end as numeric(38, 9)
    ) as due_beyond_total
from judged
where not (is_dated_ahead and (is_credit or document_type = 'vendor_credit'))
