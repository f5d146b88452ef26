{#-
    A text without surrounding white space as Unicode defines it. By default `trim` removes only spaces on Postgres, and more on
    DuckDB.
-#}
{% macro trimmed(text) -%}
    {%- set codes = [9, 10, 11, 12, 13, 32, 133, 160, 5760] + range(8192, 8203) | list + [8232, 8233, 8239, 8287, 12288] -%}
    {{ return(adapter.dispatch('trimmed_of', 'daybook')(text, codes)) }}
{%- endmacro %}

{% macro default__trimmed_of(text, codes) -%}
    trim({{ text }}, concat(
        {%- for code in codes -%}
            chr({{ code }}){{ ", " if not loop.last }}
        {%- endfor -%}
    ))
{%- endmacro %}

{#- Spark's `chr` has 256 characters. -#}
{% macro spark__trimmed_of(text, codes) -%}
    trim(both '{% for code in codes %}{{ "\\u%04x" | format(code) }}{% endfor %}' from {{ text }})
{%- endmacro %}
