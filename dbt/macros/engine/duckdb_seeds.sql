{#- dbt-duckdb has DuckDB read the file again, which guesses how it is written: seeds are what dbt has read, on every database. -#}
{% macro duckdb__load_csv_rows(model, agate_table) -%}
    {{ return(dbt.default__load_csv_rows(model, agate_table)) }}
{%- endmacro %}
