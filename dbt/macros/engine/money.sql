{#- An amount or a quantity, rounded half away from zero to 9 decimals; null from 10^17 on. stg_finance__unfit_values tells of both. -#}
{% macro money(expression) -%}
    {{ return(daybook.held_decimal(expression, 9)) }}
{%- endmacro %}

{#- A rate or a unit price: the same with 12 decimals. -#}
{% macro rate(expression) -%}
    {{ return(daybook.held_decimal(expression, 12)) }}
{%- endmacro %}

{#- The cast rounds half away from zero on Postgres. A snapshot was rounded when it was written, and has no more decimals. -#}
{% macro held_decimal(expression, scale) -%}
    cast(case when {{ daybook.is_below_limit(expression, scale) }} then {{ expression }} end as numeric(38, {{ scale }}))
{%- endmacro %}

{#- Whether a value stays below 10^17 when it is rounded. -#}
{% macro is_below_limit(expression, scale) -%}
    {{ return(adapter.dispatch('is_below_limit', 'daybook')(expression, scale)) }}
{%- endmacro %}

{% macro postgres__is_below_limit(expression, scale) -%}
    abs({{ expression }}) < 1e17 - 0.5e-{{ scale }}
{%- endmacro %}

{% macro default__is_below_limit(expression, scale) -%}
    abs({{ expression }}) < 100000000000000000
{%- endmacro %}
