{#-
    Lines of bills or credit memos with their tax separated. The API does not tell whether `total_amount` of a line includes the
    tax, so each line is judged by its own numbers and by its document: if the document is the sum of the lines without their tax,
    the vendor does not charge the tax (reverse charge), unless the header does. A line that fits two readings is not known. A
    line without a total is a remark, worth 0; a line with a number that does not fit is not known. `header` has the subtotal, tax
    and discount of a document; credit memos tell none.
-#}
{% macro taxed_lines(table, documents, document_id, header={}) -%}
    {%- set same = '<= ' ~ daybook.binary_noise() -%}
    {%- set known_total = 'case when unfit_lines.record_id is null then coalesce(lines.total_amount, 0) end' -%}
    {%- set known_tax = 'case when unfit_lines.record_id is null then coalesce(lines.tax_amount, 0) end' -%}
    {%- set is_sub_total_with_tax = 'abs(lines.sub_total + lines.tax_amount - lines.total_amount) ' ~ same -%}
    {%- set is_less_discount =
        'abs(lines.sub_total - lines.discount_amount + lines.tax_amount - lines.total_amount) ' ~ same
    -%}
    {%- set has_tax_within = '(' ~ is_sub_total_with_tax ~ ' or coalesce(' ~ is_less_discount ~ ', false))' -%}
    {%- set unknown = 'cast(null as numeric(38, 9))' -%}
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
            -- The tax of lines whose total includes it.
            {{ daybook.whole_sum(known_tax, 'coalesce(' ~ has_tax_within ~ ', unfit_lines.record_id is not null)') }} as tax_within,
            -- The tax of lines that have it only beside their total.
            {{ daybook.whole_sum(
                known_tax,
                'coalesce(' ~ has_tax_beside ~ ' and not ' ~ has_tax_within ~ ', unfit_lines.record_id is not null)'
            ) }} as tax_beside
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
            line_sums.tax_beside,
            line_sums.tax_amount as line_tax,
            {{ header.get('sub_total', unknown) }} as header_sub_total,
            {{ header.get('tax', unknown) }} as header_tax,
            {{ header.get('discount', 'cast(0 as numeric(38, 9))') }} as discount,
            documents.total_amount - {{ header.get('sub_total', unknown) }} as more_than_sub_total
        from line_sums
        inner join documents
            on
                line_sums.connection_id = documents.connection_id
                and line_sums.{{ document_id }} = documents.{{ document_id }}
    ),

    -- The header's amount less the sum of its lines, without their tax and with it, with the discount deducted or not. A total
    -- may be rounded by half a unit of its currency, so the nearer sum is meant.
    measured as (
        select
            *,
            least(abs(more_than_document), abs(more_than_document - discount)) as off_without_tax,
            least(
                abs(more_than_document + tax_beside), abs(more_than_document + tax_beside - discount)
            ) as off_with_tax,
            least(abs(more_than_sub_total), abs(more_than_sub_total + discount)) as header_off_without_tax,
            least(
                abs(more_than_sub_total - line_tax), abs(more_than_sub_total - line_tax + discount)
            ) as header_off_with_tax
        from compared
    ),

    -- The header charges the lines' tax if its own tax equals it, or is not told, and is in its total, with or without the
    -- discount.
    charged as (
        select
            *,
            coalesce(
                abs(line_tax) > noise and abs(coalesce(header_tax, line_tax) - line_tax) <= noise
                and (
                    abs(more_than_sub_total - coalesce(header_tax, line_tax)) <= noise
                    or abs(more_than_sub_total - coalesce(header_tax, line_tax) + discount) <= noise
                ),
                false
            ) as is_tax_charged,
            -- Whether the total leaves out the tax that lines have beside theirs, as far as the header tells.
            {% if header -%}
                case
                    when abs(coalesce(header_tax, 0)) > noise and coalesce(abs(header_tax - tax_within) <= noise, false) then true
                    -- A header that tells nothing does not tell that either.
                    when header_sub_total is null then coalesce(abs(header_tax) <= noise, false)
                    else
                        coalesce(
                            header_off_without_tax <= noise
                            or (header_off_without_tax <= 0.5 and header_off_without_tax < header_off_with_tax),
                            false
                        )
                end
            {%- else -%}
                false
            {%- endif %} as is_without_tax_beside
        from measured
    ),

    headers as (
        select
            *,
            coalesce(abs(more_than_document) <= noise, false) as is_sum_of_lines,
            coalesce(abs(more_than_document) <= noise, false)
            or coalesce(off_without_tax <= 0.5 and off_without_tax < off_with_tax, false) as has_no_tax_beside,
            coalesce(
                not is_tax_charged and abs(tax_within) > noise
                and abs(more_than_document) > noise and abs(more_than_document - discount) > noise
                and (
                    abs(more_than_document - tax_within) <= noise
                    or abs(more_than_document - tax_within - discount) <= noise
                ),
                false
            ) as is_without_their_tax
        from charged
    ),

    judged as (
        select
            lines.*,
            unfit_lines.record_id is null as is_known,
            -- The line without its tax, for tax that is not charged.
            case
                when {{ is_sub_total_with_tax }} or {{ has_tax_beside }} then lines.sub_total
                else lines.total_amount - lines.tax_amount
            end as charged_amount,
            case
                when unfit_lines.record_id is not null then 'unknown'
                -- The total exceeds the subtotal for no known reason.
                when coalesce(lines.tax_amount, 0) = 0 and abs(lines.total_amount) - abs(lines.sub_total) > headers.noise then 'unknown'
                when coalesce(lines.tax_amount, 0) = 0 then 'no_tax'
                when {{ has_tax_within }} and headers.is_without_their_tax then 'not_charged'
                when {{ is_sub_total_with_tax }} then 'inclusive'
                -- Its discount equals its tax, so the tax may be in its total or beside it.
                when
                    {{ has_tax_within }} and {{ has_tax_beside }}
                    and not (headers.is_sum_of_lines and (headers.is_tax_charged or headers.header_sub_total is null))
                    then 'unknown'
                when {{ has_tax_within }} then 'inclusive'
                when {{ has_tax_beside }} and not headers.has_no_tax_beside then 'exclusive'
                when {{ has_tax_beside }} and headers.is_tax_charged then 'inclusive'
                when {{ has_tax_beside }} and headers.is_without_tax_beside then 'not_charged'
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
                    when tax_treatment = 'not_charged' then charged_amount
                    when is_known then coalesce(total_amount, 0)
                end as numeric(38, 9)
            ) as gross_amount,
            cast(
                case
                    when tax_treatment = 'inclusive' then total_amount - tax_amount
                    when tax_treatment = 'not_charged' then charged_amount
                    when tax_treatment in ('exclusive', 'no_tax') then coalesce(total_amount, 0)
                end as numeric(38, 9)
            ) as net_amount
        from judged
    )
{%- endmacro %}
