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
            cast(coalesce(sum(open_amount) filter (where bucket = '{{ bucket }}'), 0) as numeric(38, 9)) as {{ column }},
        {% endfor -%}
        cast(coalesce(sum(open_amount) filter (where days_past_due > 0), 0) as numeric(38, 9)) as overdue_amount,
        cast(coalesce(sum(open_amount) filter (where document_type = 'vendor_credit'), 0) as numeric(38, 9)) as unapplied_credits,
        cast(sum(open_amount) as numeric(38, 9)) as total_open,
        cast(case when count(*) = count(open_amount_base) then sum(open_amount_base) end as numeric(38, 9)) as total_open_base,
        count(*) - count(open_amount_base) as unconverted_count,
        max(days_past_due) as oldest_days,
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
        total_open,
        total_open_base,
        unconverted_count,
        {{ daybook.ratio('overdue_amount', 'total_open') }} as overdue_share,
        oldest_days,
        document_count
    from summed
)

select * from final
