{#- The only place that divides: a double on every engine, null if the divisor is 0. -#}
{% macro ratio(dividend, divisor) -%}
    {{ daybook.as_double(dividend) }} / nullif({{ daybook.as_double(divisor) }}, 0)
{%- endmacro %}

{#- The whole weeks in a number of days, which is 0 or more. -#}
{% macro weeks_in(days) -%}
    cast(floor({{ daybook.as_double(days) }} / 7) as bigint)
{%- endmacro %}
