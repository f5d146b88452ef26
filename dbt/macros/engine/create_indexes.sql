{#-
    Creates no index in DuckDB: the marts are written to Parquet, which has none, and the 50 indexes of a million bills took more than a
    third of their build. dbt looks for this macro by its name in the project that it runs.
-#}
{% macro duckdb__create_indexes(relation) -%}{%- endmacro %}
