{#- The number of documents of a kind that may stand between those of a pair. Pairing every two of a group took its square. -#}
{%- set nearest = 10 -%}
{%- set by_date = 'document_date nulls last, place' -%}
{%- set by_amount = daybook.binary_order('currency_code') ~ ' nulls last, amount nulls last, ' ~ by_date -%}
with bills as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        vendor_id,
        {{ daybook.normalised_number('document_number') }} as number,
        issue_date as document_date,
        currency_code,
        total_amount as amount
    from {{ ref('stg_finance__bills') }}
    where coalesce(status, 'unknown') <> 'void'
),

expenses as (
    select
        connection_id,
        'expense' as document_type,
        expense_id as document_id,
        vendor_id,
        cast(null as {{ daybook.text_type() }}) as number,
        transaction_date as document_date,
        currency_code,
        signed_amount as amount
    from {{ ref('expenses') }}
    where expense_type = 'expense' and vendor_id <> '(none)'
),

documents as (
    select * from bills
    union all
    select * from expenses
),

-- Each document with a number by which it is found again (bills by ID, then expenses), and with the number of documents that each
-- rule finds alike, itself included, which tells whether there are pairs that are not listed.
counted as (
    select
        *,
        row_number() over (
            order by {{ daybook.binary_order('connection_id') }}, document_type, {{ daybook.binary_order('document_id') }}
        ) as place,
        count(*) over (partition by connection_id, vendor_id, number) as of_number,
        count(*) over (partition by connection_id, number, amount, currency_code) as of_number_and_amount,
        count(*) over (partition by connection_id, vendor_id, amount, currency_code) as of_amount,
        cast(sum(case document_type when 'bill' then 1 else 0 end) over (
            partition by connection_id, vendor_id, amount, currency_code
        ) as bigint) as bills_of_amount,
        cast(sum(case document_type when 'bill' then 1 else 0 end) over (
            partition by connection_id, vendor_id, amount, currency_code
            order by document_date
            range between interval '7 days' preceding and interval '7 days' following
        ) as bigint) as bills_in_7_days,
        count(*) over (
            partition by connection_id, vendor_id, amount, currency_code
            order by document_date
            range between interval '5 days' preceding and interval '5 days' following
        ) as documents_in_5_days
    from documents
),

{% for by, group, order, condition in [
    ('number', 'vendor_id, number', by_amount, 'vendor_id is not null and number is not null'),
    ('amount', 'vendor_id, amount, currency_code', by_date, 'vendor_id is not null and amount <> 0 and document_date is not null'),
    ('number_and_amount', 'number, amount, currency_code', by_date, 'number is not null and amount <> 0')
] -%}
    neighbours_by_{{ by }} as (
        select
            place,
            {{ daybook.each_of('next_ones') }} as neighbour
        from (
            select
                place,
                array_agg(place) over (
                    partition by connection_id, {{ group }}
                    order by {{ order }}
                    rows between 1 following and {{ nearest }} following
                ) as next_ones
            from counted
            where document_type = 'bill' and {{ condition }}
        ) as followed
    ),

{% endfor -%}

-- Bills and expenses of a vendor and amount that has both, which few have, in one order, each with the number of either kind up
-- to it. The groups of all vendors and amounts form one sequence, for a join by one column: neighbors from different groups fit
-- no rule. Uses sums, because a count with a filter takes DuckDB the square.
placed as (
    select
        document_type,
        place,
        cast(sum(case document_type when 'bill' then 1 else 0 end) over line as bigint) as bills_so_far,
        cast(sum(case document_type when 'expense' then 1 else 0 end) over line as bigint) as expenses_so_far
    from counted
    where
        vendor_id is not null and amount <> 0 and document_date is not null
        and bills_of_amount > 0 and bills_of_amount < of_amount
    window line as (
        order by connection_id, vendor_id, amount, currency_code, document_date, place
        rows between unbounded preceding and current row
    )
),

{% for kind, other in [('bill', 'expense'), ('expense', 'bill')] -%}
    {{ kind }}s_in_line as (
        select
            place,
            {{ kind }}s_so_far as nth
        from placed
        where document_type = '{{ kind }}'
    ),

    -- The nearest documents of the other kind, on both sides.
    sought_by_{{ kind }}s as (
        select
            place,
            {{ other }}s_so_far + step as nth
        from (
            select
                place,
                {{ other }}s_so_far,
                {{ daybook.each_of(daybook.array_of(range(1 - nearest, nearest + 1))) }} as step
            from placed
            where document_type = '{{ kind }}'
        ) as stepped
    ),

{% endfor -%}
neighbours as (
    {% for by in ['number', 'amount', 'number_and_amount'] -%}
        select
            place,
            neighbour
        from neighbours_by_{{ by }}
        union all
    {% endfor -%}
    select
        sought_by_bills.place,
        expenses_in_line.place as neighbour
    from sought_by_bills
    inner join expenses_in_line on sought_by_bills.nth = expenses_in_line.nth
    union all
    select
        bills_in_line.place,
        sought_by_expenses.place as neighbour
    from sought_by_expenses
    inner join bills_in_line on sought_by_expenses.nth = bills_in_line.nth
),

candidates as (
    select distinct
        least(place, neighbour) as place_a,
        greatest(place, neighbour) as place_b
    from neighbours
),

compared as (
    select
        a.connection_id,
        a.document_id as bill_id_a,
        b.document_type as type_b,
        b.document_id as document_id_b,
        a.vendor_id as vendor_id_a,
        b.vendor_id as vendor_id_b,
        a.currency_code,
        b.currency_code as currency_code_b,
        a.amount as amount_a,
        b.amount as amount_b,
        a.of_number,
        a.of_number_and_amount,
        a.bills_in_7_days,
        a.documents_in_5_days,
        abs({{ daybook.days_between('a.document_date', 'b.document_date') }}) as day_gap,
        coalesce(a.connection_id = b.connection_id and a.vendor_id = b.vendor_id, false) as is_of_one_vendor,
        coalesce(a.connection_id = b.connection_id and a.number = b.number, false) as is_of_one_number,
        coalesce(a.amount = b.amount and a.amount <> 0, false)
        and {{ daybook.same_value('a.currency_code', 'b.currency_code') }} as is_of_one_amount
    from candidates
    inner join counted as a on candidates.place_a = a.place
    inner join counted as b on candidates.place_b = b.place
),

-- Documents with the same number are bills: expenses have no number.
judged as (
    select
        *,
        is_of_one_vendor and is_of_one_number as has_same_number,
        type_b = 'expense' and is_of_one_vendor and is_of_one_amount and coalesce(day_gap <= 5, false) as is_paid_twice,
        type_b = 'bill' and is_of_one_vendor and is_of_one_amount and coalesce(day_gap <= 7, false) as has_same_amount,
        is_of_one_number and is_of_one_amount and not is_of_one_vendor as is_of_other_vendor
    from compared
),

final as (
    select
        connection_id,
        bill_id_a,
        type_b as document_type_b,
        document_id_b,
        case
            when has_same_number then 'same_number'
            when is_paid_twice then 'paid_twice'
            when has_same_amount then 'same_amount'
            else 'other_vendor'
        end as rule,
        {{ daybook.as_double(
            'case when has_same_number then 0.9 when is_paid_twice then 0.8 when has_same_amount then 0.7 else 0.6 end'
        ) }} as score,
        cast(
            cast(has_same_number as int) + cast(is_paid_twice as int)
            + cast(has_same_amount as int) + cast(is_of_other_vendor as int)
            as bigint
        ) as matched_rules,
        coalesce(vendor_id_a, '(none)') as vendor_id_a,
        coalesce(vendor_id_b, '(none)') as vendor_id_b,
        currency_code,
        currency_code_b,
        amount_a,
        amount_b,
        day_gap,
        case
            when has_same_number then of_number
            when is_paid_twice then documents_in_5_days
            when has_same_amount then bills_in_7_days
            else of_number_and_amount
        end as alike_count
    from judged
    where has_same_number or is_paid_twice or has_same_amount or is_of_other_vendor
)

select * from final
