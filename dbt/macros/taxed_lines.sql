{#-
    Lines of bills or credit memos with their tax told apart. The API does not say whether `total_amount` of a line has the tax in
    it, so each line is judged by its own numbers. One without a total is a remark and worth 0; one of which a number does not fit is
    not known.
-#}
{% macro taxed_lines(table, document_id) -%}
    unfit_lines as (
        {{ daybook.unfit_rows(table, ['total_amount', 'tax_amount', 'sub_total']) }}
    ),

    judged as (
        select
            lines.*,
            unfit_lines.record_id is null as is_known,
            case
                when unfit_lines.record_id is not null then 'unknown'
                when coalesce(lines.tax_amount, 0) = 0 then 'no_tax'
                when lines.total_amount = lines.sub_total + lines.tax_amount then 'inclusive'
                when lines.total_amount = lines.sub_total then 'exclusive'
                else 'unknown'
            end as tax_treatment
        from lines
        left join unfit_lines
            on
                lines.connection_id = unfit_lines.connection_id
                and lines.{{ document_id }} = unfit_lines.record_id
                and lines.position = unfit_lines.position
    ),

    taxed as (
        select
            *,
            cast(
                case
                    when tax_treatment = 'exclusive' then total_amount + tax_amount
                    when is_known then coalesce(total_amount, 0)
                end as numeric(38, 9)
            ) as gross_amount,
            cast(
                case
                    when tax_treatment = 'inclusive' then total_amount - tax_amount
                    when tax_treatment in ('exclusive', 'no_tax') then coalesce(total_amount, 0)
                end as numeric(38, 9)
            ) as net_amount
        from judged
    )
{%- endmacro %}
