-- How much of the tax of a bill its lines do not tell, and where it is: on top of them, in what the total is more than they are,
-- or somewhere in them.
with bills as (
    select * from {{ ref('stg_finance__bills') }}
),

lines as (
    select * from {{ ref('int_bill_lines__taxed') }}
),

line_totals as (
    select
        connection_id,
        bill_id,
        -- A remark is worth 0 and has no tax.
        count(*) filter (where gross_amount is distinct from 0) as line_count,
        {{ daybook.whole_sum('gross_amount') }} as gross_amount,
        {{ daybook.whole_sum('case when is_known then coalesce(tax_amount, 0) end') }} as tax_amount
    from lines
    group by connection_id, bill_id
),

compared as (
    select
        bills.connection_id,
        bills.bill_id,
        bills.currency_code,
        bills.total_amount,
        bills.sub_total,
        bills.tax_amount,
        coalesce(bills.total_discount, 0) as discount,
        coalesce(line_totals.line_count, 0) as line_count,
        bills.total_amount - case when line_totals.bill_id is null then 0 else line_totals.gross_amount end as missing_amount,
        coalesce(bills.tax_amount, 0)
        - case when line_totals.bill_id is null then 0 else line_totals.tax_amount end as untold_tax
    from bills
    left join line_totals on bills.connection_id = line_totals.connection_id and bills.bill_id = line_totals.bill_id
),

-- Noise is no tax. A header without tax tells nothing that its lines do not.
judged as (
    select
        *,
        coalesce(tax_amount <> 0 and abs(untold_tax) > {{ daybook.noise('currency_code') }}, false) as has_untold_tax
    from compared
),

taxed as (
    select
        connection_id,
        bill_id,
        cast(missing_amount as numeric(38, 9)) as missing_amount,
        cast(untold_tax as numeric(38, 9)) as untold_tax,
        has_untold_tax,
        case
            when not has_untold_tax then 'told'
            when missing_amount = 0 then 'inside'
            when line_count = 0 then 'on_top'
            when abs(missing_amount - untold_tax) <= {{ daybook.noise('currency_code') }} then 'on_top'
            when abs(missing_amount - untold_tax + discount) <= {{ daybook.noise('currency_code') }} then 'on_top'
            else 'unknown'
        end as header_tax,
        -- Of one line that is the whole bill, the net amount is that of the header.
        cast(
            case
                when
                    has_untold_tax and untold_tax = tax_amount and line_count = 1 and missing_amount = 0
                    and abs(sub_total + tax_amount - total_amount) <= {{ daybook.noise('currency_code') }}
                    then sub_total
            end as numeric(38, 9)
        ) as only_net_amount
    from judged
)

select * from taxed
