{#- The one place that divides: a double on both engines, null where the divisor is 0. -#}
{% macro ratio(dividend, divisor) -%}
    cast({{ dividend }} as float8) / nullif(cast({{ divisor }} as float8), 0)
{%- endmacro %}

{#- Whole weeks in a number of days, 0 or more. -#}
{% macro weeks_in(days) -%}
    cast(floor(cast({{ days }} as float8) / 7) as bigint)
{%- endmacro %}
