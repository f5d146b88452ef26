with lines as (
    select * from {{ ref('spend_lines') }}
    where posting_status = 'posted' and not is_in_future
),

reads as (
    select * from {{ ref('int_connections__read') }}
),

monthly as (
    select
        connection_id,
        vendor_id,
        spend_month,
        currency_code,
        {{ daybook.whole_sum('gross_amount') }} as spend,
        {{ daybook.whole_sum('gross_amount', "source_type = 'bill'") }} as bill_spend,
        {{ daybook.whole_sum('gross_amount', "source_type = 'expense'") }} as expense_spend,
        {{ daybook.whole_sum('gross_amount', "source_type = 'refund'") }} as refunds,
        {{ daybook.whole_sum('gross_amount', "source_type = 'vendor_credit'") }} as credits,
        count(*) - count(gross_amount) as unknown_count,
        {{ daybook.whole_sum('gross_amount_base') }} as spend_base,
        count(*) - count(gross_amount_base) as unconverted_count,
        count(distinct source_type || ' ' || document_id) as document_count,
        count(distinct document_id) filter (where source_type = 'bill') as bill_count
    from lines
    group by connection_id, vendor_id, spend_month, currency_code
),

-- Shares are of positive spend: a vendor that gave back more than it got has none.
weighed as (
    select
        monthly.*,
        coalesce(
            {{ daybook.month_end('monthly.spend_month') }} < {{ daybook.as_of_date() }}
            and {{ daybook.month_end('monthly.spend_month') }} <= reads.read_until, false
        ) as is_complete,
        case when monthly.spend < 0 then 0 else monthly.spend end as positive_spend
    from monthly
    left join reads on monthly.connection_id = reads.connection_id
),

ranked as (
    select
        *,
        -- Documents that were only returned were bought elsewhere, or before the books begin. Unknown amounts may have been
        -- bought.
        min(case when coalesce(bill_spend > 0 or expense_spend > 0, true) then spend_month end)
            over (partition by connection_id, vendor_id) as first_spend_month,
        {{ daybook.whole_sum_over('positive_spend', '(partition by connection_id, spend_month, currency_code)') }} as month_spend,
        row_number() over (
            partition by connection_id, spend_month, currency_code
            order by spend desc nulls last, {{ daybook.binary_order('vendor_id') }} asc
        ) as spend_rank
    from weighed
),

accumulated as (
    select
        *,
        sum(positive_spend) over (
            partition by connection_id, spend_month, currency_code
            order by spend_rank
            rows between unbounded preceding and current row
        ) as accumulated_spend
    from ranked
),

final as (
    select
        this_year.connection_id,
        this_year.vendor_id,
        this_year.spend_month,
        this_year.currency_code,
        this_year.is_complete,
        cast(this_year.spend as numeric(38, 9)) as spend,
        cast(this_year.bill_spend as numeric(38, 9)) as bill_spend,
        cast(this_year.expense_spend as numeric(38, 9)) as expense_spend,
        cast(this_year.refunds as numeric(38, 9)) as refunds,
        cast(this_year.credits as numeric(38, 9)) as credits,
        this_year.unknown_count,
        cast(this_year.spend_base as numeric(38, 9)) as spend_base,
        this_year.unconverted_count,
        this_year.document_count,
        this_year.bill_count,
        {{ daybook.ratio('this_year.bill_spend', 'this_year.bill_count') }} as average_bill,
        cast(last_year.spend as numeric(38, 9)) as spend_year_before,
        case
            when this_year.is_complete and last_year.spend > 0
                then {{ daybook.ratio('this_year.spend - last_year.spend', 'last_year.spend') }}
        end as year_over_year,
        {{ daybook.ratio('this_year.positive_spend', 'this_year.month_spend') }} as share_of_month,
        case when this_year.month_spend is not null then this_year.spend_rank end as spend_rank,
        {{ daybook.ratio('this_year.accumulated_spend', 'this_year.month_spend') }} as cumulative_share,
        this_year.first_spend_month
    from accumulated as this_year
    left join monthly as last_year
        on
            this_year.connection_id = last_year.connection_id
            and this_year.vendor_id = last_year.vendor_id
            and {{ daybook.same_value('this_year.currency_code', 'last_year.currency_code') }}
            and {{ daybook.add_months('this_year.spend_month', -12) }} = last_year.spend_month
)

select * from final
