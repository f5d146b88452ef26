-- Applications of credits to bills as each side tells them, with the one date on which they count: the bill's, or the credit's if
-- the bill has none. The rows of bill and credit are matched by amount, in the order of their dates, and cut where a row of
-- either side ends: an application that one side tells as one and the other in parts becomes a row for each part. Rows of 0, or
-- undone by the next row, have no match. If both documents exist in one currency, a row without a match was told by one of them
-- alone.
with told as (
    select
        connection_id,
        'bill' as told_by,
        bill_id as document_id,
        bill_id,
        -- A row without a credit belongs to no pair.
        coalesce(linked_id, '') as credit_id,
        position,
        allocated_date,
        allocated_amount
    from {{ ref('stg_finance__bill_credit_allocations') }}
    union all
    select
        connection_id,
        'vendor_credit' as told_by,
        bill_credit_memo_id as document_id,
        coalesce(linked_id, '') as bill_id,
        bill_credit_memo_id as credit_id,
        position,
        allocated_date,
        allocated_amount
    from {{ ref('stg_finance__bill_credit_memo_allocations') }}
),

bills as (
    select * from {{ ref('stg_finance__bills') }}
),

credits as (
    select * from {{ ref('stg_finance__bill_credit_memos') }}
),

-- A row begins a run unless it undoes the one before it.
begun as (
    select
        *,
        case
            when allocated_amount = -lag(allocated_amount) over (
                partition by connection_id, bill_id, credit_id, told_by order by allocated_date asc nulls last, position asc
            ) then 0
            else 1
        end as begins
    from told
    where allocated_amount is distinct from 0
),

runs as (
    select
        *,
        sum(begins) over (
            partition by connection_id, bill_id, credit_id, told_by
            order by allocated_date asc nulls last, position asc
            rows unbounded preceding
        ) as run
    from begun
),

numbered as (
    select
        *,
        row_number() over (
            partition by connection_id, bill_id, credit_id, told_by, run order by allocated_date asc nulls last, position asc
        ) as place,
        count(*) over (partition by connection_id, bill_id, credit_id, told_by, run) as run_length
    from runs
),

-- In a run of odd length the last row lasts.
placed as (
    select
        *,
        run_length > 1 and (place < run_length or run_length % 2 = 0) as is_undone
    from numbered
),

-- Both rows of an undone pair count on one day, as if they did not exist.
idle as (
    select
        connection_id,
        told_by,
        document_id,
        bill_id,
        credit_id,
        position,
        allocated_amount,
        max(allocated_date) over (
            partition by connection_id, bill_id, credit_id, told_by, run, place + place % 2
        ) as counted_date
    from placed
    where is_undone
    union all
    select
        connection_id,
        told_by,
        document_id,
        bill_id,
        credit_id,
        position,
        allocated_amount,
        allocated_date as counted_date
    from told
    where allocated_amount = 0
),

lasting as (
    select
        placed.*,
        case
            when bills.bill_id is null or credits.bill_credit_memo_id is null then true
            when bills.currency_code is null and credits.currency_code is null then true
            else coalesce(bills.currency_code = credits.currency_code, false)
        end as is_one_currency,
        -- An application that a void or unknown document tells does not settle the other one.
        bills.bill_id is not null and credits.bill_credit_memo_id is not null
        and case placed.told_by
            when 'bill' then {{ daybook.posting_status('bills.status') }} else {{ daybook.posting_status('credits.status') }}
        end = 'posted' as is_of_both
    from placed
    left join bills on placed.connection_id = bills.connection_id and placed.bill_id = bills.bill_id
    left join credits
        on placed.connection_id = credits.connection_id and placed.credit_id = credits.bill_credit_memo_id
    where not placed.is_undone
),

-- Amounts cannot be compared if they have both signs or two currencies, or are not known. Then the first row of one side matches
-- the first of the other.
measured as (
    select
        *,
        is_one_currency and count(allocated_amount) over pair = count(*) over pair
        and (min(allocated_amount) over pair > 0 or max(allocated_amount) over pair < 0) as has_measure,
        min(told_by) over pair = max(told_by) over pair as is_one_tale
    from lasting
    window pair as (partition by connection_id, bill_id, credit_id)
),

laid as (
    select
        *,
        sum(case when has_measure then abs(allocated_amount) else 1 end) over (
            partition by connection_id, bill_id, credit_id, told_by
            order by allocated_date asc nulls last, position asc
            rows unbounded preceding
        ) as ends_at,
        row_number() over (
            partition by connection_id, bill_id, credit_id, told_by order by allocated_date asc nulls last, position asc
        ) as told_place
    from measured
),

ends as (
    select
        connection_id,
        bill_id,
        credit_id,
        ends_at,
        count(case when told_by = 'bill' then 1 end) as bill_ends,
        count(case when told_by = 'vendor_credit' then 1 end) as credit_ends
    from laid
    group by connection_id, bill_id, credit_id, ends_at
),

-- The row that ends at a cut, or continues over it, is the one after all rows that have ended before.
cuts as (
    select
        connection_id,
        bill_id,
        credit_id,
        ends_at as cut_at,
        ends_at - lag(ends_at, 1, 0) over pair as length,
        1 - bill_ends + sum(bill_ends) over pair as bill_place,
        1 - credit_ends + sum(credit_ends) over pair as credit_place
    from ends
    window pair as (partition by connection_id, bill_id, credit_id order by ends_at)
),

sides as (
    select 'bill' as told_by
    union all
    select 'vendor_credit' as told_by
),

-- Each row with its own cuts, by a window function: a join took the square of the number of rows in a pair.
rows_and_cuts as (
    select
        connection_id,
        bill_id,
        credit_id,
        null as cut_at,
        null as length,
        told_by,
        told_place,
        position,
        allocated_date,
        allocated_amount,
        has_measure,
        -- If amounts cannot be compared, a row without a match may be part of a row that the other side tells as one.
        is_one_currency and is_of_both and (has_measure or is_one_tale) as may_be_alone
    from laid
    union all
    select
        cuts.connection_id,
        cuts.bill_id,
        cuts.credit_id,
        cuts.cut_at,
        cuts.length,
        sides.told_by,
        cast(case sides.told_by when 'bill' then cuts.bill_place else cuts.credit_place end as bigint) as told_place,
        null as position,
        null as allocated_date,
        null as allocated_amount,
        null as has_measure,
        null as may_be_alone
    from cuts
    cross join sides
),

cut_rows as (
    select
        connection_id,
        bill_id,
        credit_id,
        cut_at,
        length,
        told_by,
        max(position) over told as position,
        max(allocated_date) over told as allocated_date,
        max(allocated_amount) over told as allocated_amount,
        bool_or(has_measure) over told as has_measure,
        bool_or(may_be_alone) over told as may_be_alone
    from rows_and_cuts
    window told as (partition by connection_id, bill_id, credit_id, told_by, told_place)
),

-- Cuts beyond the rows of one side are not part of it.
parts as (
    select
        connection_id,
        told_by,
        case when told_by = 'bill' then bill_id else credit_id end as document_id,
        bill_id,
        credit_id,
        position,
        cut_at,
        case
            when has_measure then {{ daybook.sign_of('allocated_amount') }} * length
            else allocated_amount
        end as allocated_amount,
        max(case when told_by = 'bill' then allocated_date end) over part as bill_date,
        max(case when told_by = 'vendor_credit' then allocated_date end) over part as credit_date,
        may_be_alone and count(*) over part = 1 as is_told_alone
    from cut_rows
    where cut_at is not null and position is not null
    window part as (partition by connection_id, bill_id, credit_id, cut_at)
),

dated as (
    select
        connection_id,
        told_by,
        document_id,
        bill_id,
        credit_id,
        position,
        row_number() over (partition by connection_id, told_by, document_id, position order by cut_at) as part,
        cast(allocated_amount as numeric(38, 9)) as allocated_amount,
        coalesce(bill_date, credit_date) as counted_date,
        coalesce(bill_date <> credit_date, false) as has_other_date,
        is_told_alone
    from parts
    union all
    select
        connection_id,
        told_by,
        document_id,
        bill_id,
        credit_id,
        position,
        1 as part,
        allocated_amount,
        counted_date,
        false as has_other_date,
        false as is_told_alone
    from idle
)

select * from dated
