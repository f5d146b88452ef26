{#-
    An amount or a quantity, rounded half away from zero to 9 decimals; null from 10^17 on. stg_finance__unfit_values lists both
    cases.
-#}
{% macro money(expression) -%}
    {{ return(daybook.held_decimal(expression, 9)) }}
{%- endmacro %}

{#- A rate or a unit price, held like an amount but with 12 decimals. -#}
{% macro rate(expression) -%}
    {{ return(daybook.held_decimal(expression, 12)) }}
{%- endmacro %}

{#- On Postgres the cast rounds half away from zero. A snapshot was rounded when it was written, and has no more decimals. -#}
{% macro held_decimal(expression, scale) -%}
    cast(case when {{ daybook.is_below_limit(expression, scale) }} then {{ expression }} end as numeric(38, {{ scale }}))
{%- endmacro %}

{#- Whether a value stays below 10^17 after rounding. -#}
{% macro is_below_limit(expression, scale) -%}
    {{ return(adapter.dispatch('is_below_limit', 'daybook')(expression, scale)) }}
{%- endmacro %}

{% macro postgres__is_below_limit(expression, scale) -%}
    abs({{ expression }}) < 1e17 - 0.5e-{{ scale }}
{%- endmacro %}

{% macro default__is_below_limit(expression, scale) -%}
    abs({{ expression }}) < 100000000000000000
{%- endmacro %}
