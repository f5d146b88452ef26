{#-
    Lines of bills or credit memos with their tax told apart. The API does not say whether `total_amount` of a line has the tax in
    it, so each line is judged by its own numbers; tax on top of lines that are the total of their document without it is not charged
    by the vendor (reverse charge). A line without a total is a remark and worth 0; one of which a number does not fit is not known.
-#}
{% macro taxed_lines(table, documents, document_id) -%}
    unfit_lines as (
        {{ daybook.unfit_rows(table, ['total_amount', 'tax_amount', 'sub_total']) }}
    ),

    documents as (
        select * from {{ ref(documents) }}
    ),

    line_sums as (
        select
            lines.connection_id,
            lines.{{ document_id }},
            {{ daybook.whole_sum('case when unfit_lines.record_id is null then coalesce(lines.total_amount, 0) end') }} as total_amount
        from lines
        left join unfit_lines
            on
                lines.connection_id = unfit_lines.connection_id
                and lines.{{ document_id }} = unfit_lines.record_id
                and lines.position = unfit_lines.position
        group by lines.connection_id, lines.{{ document_id }}
    ),

    headers as (
        select
            line_sums.connection_id,
            line_sums.{{ document_id }},
            {{ daybook.noise('documents.currency_code') }} as noise,
            abs(documents.total_amount - line_sums.total_amount) <= {{ daybook.noise('documents.currency_code') }} as is_sum_of_lines
        from line_sums
        inner join documents
            on
                line_sums.connection_id = documents.connection_id
                and line_sums.{{ document_id }} = documents.{{ document_id }}
    ),

    judged as (
        select
            lines.*,
            unfit_lines.record_id is null as is_known,
            case
                when unfit_lines.record_id is not null then 'unknown'
                -- More than its subtotal, and nothing says why.
                when lines.tax_amount is null and abs(lines.total_amount) - abs(lines.sub_total) > headers.noise then 'unknown'
                when coalesce(lines.tax_amount, 0) = 0 then 'no_tax'
                when lines.total_amount = lines.sub_total + lines.tax_amount then 'inclusive'
                when lines.total_amount = lines.sub_total and headers.is_sum_of_lines then 'not_charged'
                when lines.total_amount = lines.sub_total then 'exclusive'
                else 'unknown'
            end as tax_treatment
        from lines
        left join unfit_lines
            on
                lines.connection_id = unfit_lines.connection_id
                and lines.{{ document_id }} = unfit_lines.record_id
                and lines.position = unfit_lines.position
        inner join headers
            on lines.connection_id = headers.connection_id and lines.{{ document_id }} = headers.{{ document_id }}
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
                    when tax_treatment in ('exclusive', 'not_charged', 'no_tax') then coalesce(total_amount, 0)
                end as numeric(38, 9)
            ) as net_amount
        from judged
    )
{%- endmacro %}
