{#- Names of types that one engine has and another does not. -#}
{% macro text_type() -%}
    {{ return(adapter.dispatch('text_type', 'daybook')()) }}
{%- endmacro %}

{% macro default__text_type() -%}text{%- endmacro %}

{% macro spark__text_type() -%}string{%- endmacro %}

{#- A moment, whatever the zone of the session. -#}
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
