with bills as (
    select
        connection_id,
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
        expense_id as document_id,
        vendor_id,
        transaction_date as document_date,
        currency_code,
        signed_amount as amount
    from {{ ref('expenses') }}
    where expense_type = 'expense' and vendor_id <> '(none)'
),

same_vendor_same_number as (
    select
        a.connection_id,
        'same_number' as rule,
        0.9 as score,
        a.document_id as document_a,
        'bill' as type_b,
        b.document_id as document_b
    from bills as a
    inner join bills as b
        on a.connection_id = b.connection_id and a.vendor_id = b.vendor_id and a.number = b.number
    where {{ daybook.binary_order('a.document_id') }} < {{ daybook.binary_order('b.document_id') }}
),

same_vendor_same_amount as (
    select
        a.connection_id,
        'same_amount' as rule,
        0.7 as score,
        a.document_id as document_a,
        'bill' as type_b,
        b.document_id as document_b
    from bills as a
    inner join bills as b
        on
            a.connection_id = b.connection_id
            and a.vendor_id = b.vendor_id
            and a.amount = b.amount
            and a.currency_code is not distinct from b.currency_code
    where
        {{ daybook.binary_order('a.document_id') }} < {{ daybook.binary_order('b.document_id') }}
        and a.amount <> 0
        and b.document_date between a.document_date - 7 and a.document_date + 7
),

other_vendor_same_number as (
    select
        a.connection_id,
        'other_vendor' as rule,
        0.6 as score,
        a.document_id as document_a,
        'bill' as type_b,
        b.document_id as document_b
    from bills as a
    inner join bills as b
        on
            a.connection_id = b.connection_id
            and a.number = b.number
            and a.amount = b.amount
            and a.currency_code is not distinct from b.currency_code
    where
        {{ daybook.binary_order('a.document_id') }} < {{ daybook.binary_order('b.document_id') }}
        and a.amount <> 0
        and (a.vendor_id = b.vendor_id) is not true
),

paid_twice as (
    select
        a.connection_id,
        'paid_twice' as rule,
        0.8 as score,
        a.document_id as document_a,
        'expense' as type_b,
        b.document_id as document_b
    from bills as a
    inner join expenses as b
        on
            a.connection_id = b.connection_id
            and a.vendor_id = b.vendor_id
            and a.amount = b.amount
            and a.currency_code is not distinct from b.currency_code
    where a.amount <> 0 and b.document_date between a.document_date - 5 and a.document_date + 5
),

matches as (
    select * from same_vendor_same_number
    union all
    select * from same_vendor_same_amount
    union all
    select * from other_vendor_same_number
    union all
    select * from paid_twice
),

strongest as (
    select
        *,
        row_number() over (
            partition by connection_id, document_a, type_b, document_b
            order by score desc
        ) as place,
        count(*) over (partition by connection_id, document_a, type_b, document_b) as matched_rules
    from matches
),

documents as (
    select
        connection_id,
        'bill' as document_type,
        document_id,
        vendor_id,
        document_date,
        currency_code,
        amount
    from bills
    union all
    select
        connection_id,
        'expense' as document_type,
        document_id,
        vendor_id,
        document_date,
        currency_code,
        amount
    from expenses
),

final as (
    select
        strongest.connection_id,
        strongest.document_a as bill_id_a,
        strongest.type_b as document_type_b,
        strongest.document_b as document_id_b,
        strongest.rule,
        cast(strongest.score as float8) as score,
        strongest.matched_rules,
        coalesce(a.vendor_id, '(none)') as vendor_id_a,
        coalesce(b.vendor_id, '(none)') as vendor_id_b,
        a.currency_code,
        b.currency_code as currency_code_b,
        a.amount as amount_a,
        b.amount as amount_b,
        abs({{ daybook.days_between('a.document_date', 'b.document_date') }}) as day_gap
    from strongest
    inner join documents as a
        on
            strongest.connection_id = a.connection_id
            and a.document_type = 'bill'
            and strongest.document_a = a.document_id
    inner join documents as b
        on
            strongest.connection_id = b.connection_id
            and strongest.type_b = b.document_type
            and strongest.document_b = b.document_id
    where strongest.place = 1
)

select * from final
