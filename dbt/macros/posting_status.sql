{#- posted: in accounts payable and spend; excluded: in neither; unknown: kept apart, never in headline totals. -#}
{% macro posting_status(status) -%}
    case
        when {{ status }} in ('open', 'partially_paid', 'paid') then 'posted'
        when {{ status }} in ('draft', 'submitted', 'void') then 'excluded'
        else 'unknown'
    end
{%- endmacro %}
