{#-
    A regular expression for characters that are neither letters nor digits: in ASCII, in the blocks of punctuation and symbols,
    and among characters as wide as Chinese ones. Classes such as [:alpha:] depend on the locale of the database, and DuckDB's
    know only ASCII.
-#}
{% macro no_letter() -%}
    {{ return(adapter.dispatch('no_letter', 'daybook')()) }}
{%- endmacro %}

{% macro postgres__no_letter() -%}
    [\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u2bff\u3000-\u303f\ufe30-\ufe6f\uff00-\uff0f\uff1a-\uff20]
{%- endmacro %}

{% macro duckdb__no_letter() -%}
    [\x01-\x2f\x3a-\x40\x5b-\x60\x{7b}-\x{bf}\x{2000}-\x{2bff}\x{3000}-\x{303f}\x{fe30}-\x{fe6f}\x{ff00}-\x{ff0f}\x{ff1a}-\x{ff20}]
{%- endmacro %}

{#- Escaped once for the literal, and once for Java. -#}
{% macro spark__no_letter() -%}
    [\\u0001-\\u002f\\u003a-\\u0040\\u005b-\\u0060\\u007b-\\u00bf\\u2000-\\u2bff\\u3000-\\u303f\\ufe30-\\ufe6f\\uff00-\\uff0f\\uff1a-\\uff20]
{%- endmacro %}

{#- A text with every match of a regular expression replaced. -#}
{% macro all_replaced(text, pattern, by) -%}
    {{ return(adapter.dispatch('all_replaced', 'daybook')(text, pattern, by)) }}
{%- endmacro %}

{% macro default__all_replaced(text, pattern, by) -%}
    regexp_replace({{ text }}, '{{ pattern }}', '{{ by }}', 'g')
{%- endmacro %}

{% macro spark__all_replaced(text, pattern, by) -%}
    regexp_replace({{ text }}, '{{ pattern }}', '{{ by }}')
{%- endmacro %}

{#- The match of the nth group of the expression. -#}
{% macro found_group(place) -%}
    {{ return(adapter.dispatch('found_group', 'daybook')(place)) }}
{%- endmacro %}

{% macro default__found_group(place) -%}
    \{{ place }}
{%- endmacro %}

{% macro spark__found_group(place) -%}
    ${{ place }}
{%- endmacro %}
