{#-
    Lines of bills or credit memos with their tax told apart. The API does not say whether `total_amount` of a line has the tax in
    it, so each line is judged by its own numbers.
-#}
{% macro taxed_lines(lines) -%}
    judged as (
        select
            *,
            case
                when coalesce(tax_amount, 0) = 0 then 'no_tax'
                when total_amount = sub_total + tax_amount then 'inclusive'
                when total_amount = sub_total then 'exclusive'
                else 'unknown'
            end as tax_treatment
        from {{ lines }}
    ),

    taxed as (
        select
            *,
            cast(case when tax_treatment = 'exclusive' then total_amount + tax_amount else total_amount end as numeric(38, 9)) as gross_amount,
            cast(
                case
                    when tax_treatment = 'inclusive' then total_amount - tax_amount
                    when tax_treatment in ('exclusive', 'no_tax') then total_amount
                end as numeric(38, 9)
            ) as net_amount
        from judged
    )
{%- endmacro %}
