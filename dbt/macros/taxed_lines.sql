{#-
    Lines of bills or credit memos with their tax told apart. The API does not say whether `total_amount` of a line has the tax in
    it, so each line is judged by its own numbers, and by its document: where that is the lines without their tax, the vendor does
    not charge it (reverse charge), unless the header does. A line without a total is a remark and worth 0; one of which a number
    does not fit is not known. `header` has the subtotal, tax and discount of a document; credit memos tell none.
-#}
{% macro taxed_lines(table, documents, document_id, header={}) -%}
    {%- set same = '<= ' ~ daybook.binary_noise() -%}
    {%- set known_total = 'case when unfit_lines.record_id is null then coalesce(lines.total_amount, 0) end' -%}
    {%- set known_tax = 'case when unfit_lines.record_id is null then coalesce(lines.tax_amount, 0) end' -%}
    {%- set has_tax_within = 'abs(lines.sub_total + lines.tax_amount - lines.total_amount) ' ~ same -%}
    {%- set has_tax_beside = 'abs(lines.sub_total - lines.total_amount) ' ~ same -%}
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
            {{ daybook.whole_sum(known_total) }} as total_amount,
            {{ daybook.whole_sum(known_tax) }} as tax_amount,
            -- Of the lines whose total has it.
            {{ daybook.whole_sum(known_tax, 'coalesce(' ~ has_tax_within ~ ', unfit_lines.record_id is not null)') }} as tax_within
        from lines
        left join unfit_lines
            on
                lines.connection_id = unfit_lines.connection_id
                and lines.{{ document_id }} = unfit_lines.record_id
                and lines.position = unfit_lines.position
        group by lines.connection_id, lines.{{ document_id }}
    ),

    compared as (
        select
            line_sums.connection_id,
            line_sums.{{ document_id }},
            {{ daybook.noise('documents.currency_code') }} as noise,
            line_sums.total_amount - documents.total_amount as more_than_document,
            line_sums.tax_within,
            {{ header.get('tax', 'cast(0 as numeric(38, 9))') }} as header_tax,
            {{ header.get('discount', 'cast(0 as numeric(38, 9))') }} as discount,
            {{ header.get('tax', 'cast(0 as numeric(38, 9))') }} - line_sums.tax_amount as other_tax,
            {{ header.get('sub_total', 'cast(null as numeric(38, 9))') }}
            + {{ header.get('tax', '0') }} - {{ header.get('discount', '0') }} - documents.total_amount as more_than_total
        from line_sums
        inner join documents
            on
                line_sums.connection_id = documents.connection_id
                and line_sums.{{ document_id }} = documents.{{ document_id }}
    ),

    -- The header charges the tax of the lines where it is its own and in its total.
    charged as (
        select
            *,
            coalesce(
                abs(header_tax) > noise and abs(other_tax) <= noise and abs(more_than_total) <= noise, false
            ) as is_tax_charged
        from compared
    ),

    headers as (
        select
            *,
            coalesce(abs(more_than_document) <= noise, false) as is_sum_of_lines,
            coalesce(
                not is_tax_charged and abs(tax_within) > noise and abs(more_than_document - tax_within) <= noise
                and abs(more_than_document - discount) > noise,
                false
            ) as is_without_their_tax
        from charged
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
                when {{ has_tax_within }} and headers.is_without_their_tax then 'not_charged'
                when {{ has_tax_within }} then 'inclusive'
                when {{ has_tax_beside }} and headers.is_sum_of_lines and headers.is_tax_charged then 'inclusive'
                when {{ has_tax_beside }} and headers.is_sum_of_lines then 'not_charged'
                when {{ has_tax_beside }} then 'exclusive'
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
                    when tax_treatment = 'not_charged' then sub_total
                    when is_known then coalesce(total_amount, 0)
                end as numeric(38, 9)
            ) as gross_amount,
            cast(
                case
                    when tax_treatment = 'inclusive' then total_amount - tax_amount
                    when tax_treatment = 'not_charged' then sub_total
                    when tax_treatment in ('exclusive', 'no_tax') then coalesce(total_amount, 0)
                end as numeric(38, 9)
            ) as net_amount
        from judged
    )
{%- endmacro %}
