{#-
    A text without the white space of Unicode around it. What `trim` takes without being told is a space on Postgres, and more on
    DuckDB.
-#}
{% macro trimmed(text) -%}
    trim({{ text }}, concat(
        {%- for code in [9, 10, 11, 12, 13, 32, 133, 160, 5760] + range(8192, 8203) | list + [8232, 8233, 8239, 8287, 12288] -%}
            chr({{ code }}){{ ", " if not loop.last }}
        {%- endfor -%}
    ))
{%- endmacro %}
