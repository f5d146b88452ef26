{#- A row for each value of an array. None without an array. -#}
{% macro each_of(values) -%}
    {{ return(adapter.dispatch('each_of', 'daybook')(values)) }}
{%- endmacro %}

{% macro default__each_of(values) -%}
    unnest({{ values }})
{%- endmacro %}

{% macro spark__each_of(values) -%}
    explode({{ values }})
{%- endmacro %}

{#- An array of these numbers. -#}
{% macro array_of(numbers) -%}
    {{ return(adapter.dispatch('array_of', 'daybook')(numbers)) }}
{%- endmacro %}

{% macro default__array_of(numbers) -%}
    array[{{ numbers | join(', ') }}]
{%- endmacro %}

{% macro spark__array_of(numbers) -%}
    array({{ numbers | join(', ') }})
{%- endmacro %}
