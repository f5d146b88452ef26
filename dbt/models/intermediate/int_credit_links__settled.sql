-- The amount by which applications of a credit that only one document tells settle the other one, as far as balances count them
-- there: each its own amount if all of it counts. If less does, the earliest ones come first until it is used up, because nobody
-- knows which ones count, and the rows then add up to what the document says.
with told_alone as (
    select * from {{ ref('int_credit_links__dated') }}
    where is_told_alone
),

bills as (
    select * from {{ ref('stg_finance__bills') }}
),

credits as (
    select * from {{ ref('stg_finance__bill_credit_memos') }}
),

-- Nothing is applied before both documents exist.
links as (
    select
        told_alone.*,
        case told_alone.told_by when 'bill' then 'vendor_credit' else 'bill' end as silent_type,
        case told_alone.told_by when 'bill' then told_alone.credit_id else told_alone.bill_id end as silent_id,
        coalesce(
            greatest(told_alone.counted_date, bills.issue_date, credits.issue_date) > {{ daybook.as_of_date() }}, false
        ) and told_alone.counted_date is not null as is_later
    from told_alone
    left join bills on told_alone.connection_id = bills.connection_id and told_alone.bill_id = bills.bill_id
    left join credits
        on
            told_alone.connection_id = credits.connection_id
            and told_alone.credit_id = credits.bill_credit_memo_id
),

counted as (
    select
        connection_id,
        document_type,
        document_id,
        {{ daybook.whole_sum(
            "case document_type when 'bill' then allocated_amount else -allocated_amount end"
        ) }} as counted_amount
    from {{ ref('int_ap_allocations__signed') }}
    where is_told_by_other
    group by connection_id, document_type, document_id
),

laid as (
    select
        links.connection_id,
        links.told_by,
        links.document_id,
        links.position,
        links.is_later,
        links.allocated_amount,
        case when counted.document_id is null then 0 else counted.counted_amount end as counted_amount,
        {{ daybook.whole_sum_over(
            'links.allocated_amount', '(partition by links.connection_id, links.silent_type, links.silent_id)'
        ) }} as told_amount,
        sum(links.allocated_amount) over (
            partition by links.connection_id, links.silent_type, links.silent_id
            order by
                links.counted_date asc nulls last, {{ daybook.binary_order('links.document_id') }}, links.position, links.part
            rows unbounded preceding
        ) as told_by_then
    from links
    left join counted
        on
            links.connection_id = counted.connection_id
            and links.silent_type = counted.document_type
            and links.silent_id = counted.document_id
),

settled as (
    select
        *,
        case
            when counted_amount is null then null
            when counted_amount = 0 then 0
            when counted_amount = told_amount then allocated_amount
            when counted_amount > 0
                then least(told_by_then, counted_amount) - least(told_by_then - allocated_amount, counted_amount)
            else greatest(told_by_then, counted_amount) - greatest(told_by_then - allocated_amount, counted_amount)
        end as settled_amount
    from laid
)

select
    connection_id,
    told_by,
    document_id,
    position,
    cast({{ daybook.whole_sum('settled_amount') }} as numeric(38, 9)) as settled_amount,
    cast(
        {{ daybook.whole_sum('case when is_later then allocated_amount - settled_amount else 0 end') }} as numeric(38, 9)
    ) as uncounted_later_amount
from settled
group by connection_id, told_by, document_id, position
