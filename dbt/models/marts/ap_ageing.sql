with open_items as (
    select * from {{ ref('ap_open_items') }}
),

summed as (
    select
        as_of_date,
        is_today,
        connection_id,
        vendor_id,
        currency_code,
        {% for bucket, column in [
            ('not_due', 'not_due'), ('1-30', 'days_1_30'), ('31-60', 'days_31_60'), ('61-90', 'days_61_90'),
            ('90+', 'days_over_90'), ('no_due_date', 'no_due_date')
        ] -%}
            cast({{ daybook.whole_sum('open_amount', "bucket = '" ~ bucket ~ "'") }} as numeric(38, 9)) as {{ column }},
        {% endfor -%}
        cast({{ daybook.whole_sum('open_amount', 'days_past_due > 0') }} as numeric(38, 9)) as overdue_amount,
        cast({{ daybook.whole_sum('open_amount', "is_credit") }} as numeric(38, 9)) as unapplied_credits,
        cast({{ daybook.whole_sum('open_amount', "not is_credit") }} as numeric(38, 9)) as open_bills,
        cast({{ daybook.whole_sum('open_amount', "not is_credit and bucket = 'no_due_date'") }} as numeric(38, 9))
            as open_bills_no_due_date,
        cast({{ daybook.whole_sum('open_amount') }} as numeric(38, 9)) as total_open,
        count(*) - count(open_amount) as unknown_count,
        cast({{ daybook.whole_sum('open_amount_base') }} as numeric(38, 9)) as total_open_base,
        count(*) - count(open_amount_base) as unconverted_count,
        max(days_past_due) filter (where days_past_due > 0) as oldest_days,
        count(*) as document_count
    from open_items
    group by as_of_date, is_today, connection_id, vendor_id, currency_code
),

final as (
    select
        as_of_date,
        is_today,
        connection_id,
        vendor_id,
        currency_code,
        not_due,
        days_1_30,
        days_31_60,
        days_61_90,
        days_over_90,
        no_due_date,
        overdue_amount,
        unapplied_credits,
        open_bills,
        open_bills_no_due_date,
        total_open,
        unknown_count,
        total_open_base,
        unconverted_count,
        {{ daybook.ratio('overdue_amount', 'open_bills') }} as overdue_share,
        oldest_days,
        document_count
    from summed
)

select * from final
