{#- Returns -1, 0 or 1. Spark's `sign` is a double, and so is its product with an amount: 99999999999999999.4 became 10^17. -#}
{% macro sign_of(number) -%}
    {{ return(adapter.dispatch('sign_of', 'daybook')(number)) }}
{%- endmacro %}

{% macro default__sign_of(number) -%}
    sign({{ number }})
{%- endmacro %}

{% macro spark__sign_of(number) -%}
    case when {{ number }} > 0 then 1 when {{ number }} < 0 then -1 when {{ number }} = 0 then 0 end
{%- endmacro %}
