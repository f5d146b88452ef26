{#- An amount or a quantity: at most 9 decimals and below 10^17; else null, and stg_finance__unfit_values tells of it. -#}
{% macro money(expression) -%}
    {{ return(daybook.fitting_decimal(expression, 9)) }}
{%- endmacro %}

{#- A rate or a unit price: the same with 12 decimals. -#}
{% macro rate(expression) -%}
    {{ return(daybook.fitting_decimal(expression, 12)) }}
{%- endmacro %}

{% macro fitting_decimal(expression, scale) -%}
    {{ return(adapter.dispatch('fitting_decimal', 'daybook')(expression, scale)) }}
{%- endmacro %}

{#- A cast to numeric(38, 9) would round without a word. -#}
{% macro postgres__fitting_decimal(expression, scale) -%}
    cast(
        case when abs({{ expression }}) < 1e17 and scale(trim_scale({{ expression }})) <= {{ scale }} then {{ expression }} end
        as numeric(38, {{ scale }})
    )
{%- endmacro %}

{#- The types of a snapshot leave no room for more decimals. -#}
{% macro duckdb__fitting_decimal(expression, scale) -%}
    cast(case when abs({{ expression }}) < 100000000000000000 then {{ expression }} end as numeric(38, {{ scale }}))
{%- endmacro %}
