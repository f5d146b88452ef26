-- The part of a bill's tax that its lines do not tell, and where it is: on top of them, in the amount by which the total exceeds
-- them, or somewhere in them. A header that tells a subtotal and no tax, with a larger total, tells half of it, and nobody knows
-- where the tax is.
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
        {{ daybook.whole_sum('case when is_known then coalesce(tax_amount, 0) end') }} as tax_amount,
        -- Told by a line, but in no amount of it.
        {{ daybook.whole_sum("case when tax_treatment = 'not_charged' then tax_amount else 0 end") }} as uncharged_tax,
        bool_or(coalesce(tax_amount <> 0, false)) as tells_tax
    from lines
    group by connection_id, bill_id
),

compared as (
    select
        bills.connection_id,
        bills.bill_id,
        {{ daybook.noise('bills.currency_code') }} as noise,
        bills.total_amount,
        bills.sub_total,
        bills.tax_amount,
        coalesce(bills.total_discount, 0) as discount,
        coalesce(line_totals.line_count, 0) as line_count,
        coalesce(line_totals.tells_tax, false) as tells_tax,
        coalesce(line_totals.uncharged_tax, 0) as uncharged_tax,
        bills.total_amount - case when line_totals.bill_id is null then 0 else line_totals.gross_amount end as missing_amount,
        coalesce(bills.tax_amount, 0)
        - case when line_totals.bill_id is null then 0 else line_totals.tax_amount end as untold_tax
    from bills
    left join line_totals on bills.connection_id = line_totals.connection_id and bills.bill_id = line_totals.bill_id
),

halved as (
    select
        *,
        -- Whether the total equals the subtotal, with the tax of the lines or without it, less the discount or not.
        coalesce(
            abs(total_amount - sub_total) <= noise
            or abs(total_amount - sub_total + discount) <= noise
            or abs(total_amount - sub_total + untold_tax) <= noise
            or abs(total_amount - sub_total + untold_tax + discount) <= noise,
            false
        ) as is_sub_total,
        abs(total_amount) - least(abs(sub_total), abs(sub_total - discount)) as more_than_sub_total
    from compared
),

-- Noise is no tax. A header without tax tells nothing beyond its lines.
judged as (
    select
        *,
        coalesce(
            tax_amount is null and not is_sub_total and more_than_sub_total > noise, false
        ) as has_half_of_it,
        coalesce(tax_amount <> 0 and abs(untold_tax) > noise, false) as has_tax_beside_lines
    from halved
),

taxed as (
    select
        connection_id,
        bill_id,
        cast(missing_amount as numeric(38, 9)) as missing_amount,
        cast(untold_tax as numeric(38, 9)) as untold_tax,
        has_tax_beside_lines or has_half_of_it as has_untold_tax,
        case
            when has_half_of_it then 'unknown'
            when not has_tax_beside_lines then 'told'
            when missing_amount = 0 then 'inside'
            -- If the header tells a different tax than such lines do, nobody knows whether it is charged.
            when uncharged_tax <> 0 then 'unknown'
            -- If lines worth nothing tell tax, nobody knows where the rest of the tax is.
            when line_count = 0 and not tells_tax then 'on_top'
            when abs(missing_amount - untold_tax) <= noise then 'on_top'
            when abs(missing_amount - untold_tax + discount) <= noise then 'on_top'
            else 'unknown'
        end as header_tax,
        -- If lines have tax that the header does not tell, a difference beyond discount and rounding may be tax.
        tells_tax
        and not coalesce(tax_amount is not null and abs(untold_tax) <= noise, false)
        and coalesce(abs(missing_amount) > 0.5 and abs(missing_amount + discount) > 0.5, true) as may_miss_tax,
        -- If one line is the whole bill, its net amount is the header's.
        cast(
            case
                when not has_tax_beside_lines or tells_tax or line_count <> 1 or missing_amount <> 0 then null
                when abs(sub_total + tax_amount - total_amount) <= noise then sub_total
                when abs(sub_total + tax_amount - discount - total_amount) <= noise
                    then total_amount - tax_amount
            end as numeric(38, 9)
        ) as only_net_amount
    from judged
)

select * from taxed
