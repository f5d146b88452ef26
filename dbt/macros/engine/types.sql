{#- The name of a type that differs between engines. -#}
{% macro text_type() -%}
    {{ return(adapter.dispatch('text_type', 'daybook')()) }}
{%- endmacro %}

{% macro default__text_type() -%}text{%- endmacro %}

{% macro spark__text_type() -%}string{%- endmacro %}

{#- A moment, independent of the session's zone. -#}
{% macro moment_type() -%}
    {{ return(adapter.dispatch('moment_type', 'daybook')()) }}
{%- endmacro %}

{% macro default__moment_type() -%}timestamptz{%- endmacro %}

{% macro spark__moment_type() -%}timestamp{%- endmacro %}

{#- A number with 15 digits, for ratios and means. -#}
{% macro as_double(number) -%}
    cast({{ number }} as {{ adapter.dispatch('double_type', 'daybook')() }})
{%- endmacro %}

{% macro default__double_type() -%}float8{%- endmacro %}

{% macro spark__double_type() -%}double{%- endmacro %}
