-- Lines of bills by their own numbers, corrected by the bill's header: if the header has tax that its lines do not tell and that
-- is not on top of them, the net amount of a line that tells no tax is not known.
with lines as (
    select * from {{ ref('int_bill_lines__taxed') }}
),

bills as (
    select * from {{ ref('int_bills__taxed') }}
),

judged as (
    select
        lines.*,
        lines.is_known and coalesce(lines.tax_amount, 0) = 0 and lines.gross_amount <> 0
        and bills.header_tax in ('inside', 'unknown') as has_tax_of_header,
        bills.only_net_amount
    from lines
    inner join bills on lines.connection_id = bills.connection_id and lines.bill_id = bills.bill_id
),

netted as (
    select
        connection_id,
        bill_id,
        position,
        account_id,
        class_id,
        customer_id,
        department_id,
        location_id,
        tax_rate_id,
        description,
        discount_amount,
        discount_percentage,
        sub_total,
        tax_amount,
        total_amount,
        item_id,
        item_quantity,
        item_unit_amount,
        is_known,
        case
            when not has_tax_of_header then tax_treatment
            when only_net_amount is null then 'unknown'
            else 'inclusive'
        end as tax_treatment,
        gross_amount,
        cast(case when has_tax_of_header then only_net_amount else net_amount end as numeric(38, 9)) as net_amount
    from judged
)

select * from netted
