{#-
    Creates no index in DuckDB in Daybook's own builds: the marts are written to Parquet, which has none, and 50 indexes of a million bills
    took a quarter of their build. dbt looks for this macro by its name; in a user's project the models have their indexes.
-#}
{% macro duckdb__create_indexes(relation) -%}
    {%- if project_name != 'daybook' -%}
        {{ default__create_indexes(relation) }}
    {%- endif -%}
{%- endmacro %}
