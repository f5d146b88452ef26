{#-
    Loads the seeds that dbt has read, as on every database. dbt-duckdb would make DuckDB read the file again, and guess its
    format. dbt's own statement binds every value, which takes DuckDB 0.1 to 0.2 ms each; here a column of 10,000 rows is one
    value, a list in JSON.
-#}
{% macro duckdb__load_csv_rows(model, agate_table) -%}
    {%- set names = agate_table.column_names -%}
    {%- set statement -%}
        insert into {{ this.render() }} ({{ get_seed_column_quoted_csv(model, names) }})
        select
            {% for name in names -%}
                unnest(from_json(?, '["varchar"]')) as {{ adapter.quote(name) }}{{ "," if not loop.last }}
            {% endfor -%}
    {%- endset -%}
    {%- for rows in agate_table.rows | batch(10000) -%}
        {%- set lists = [] -%}
        {%- for _ in names -%}
            {%- do lists.append(daybook.json_list(rows | map(attribute=loop.index0))) -%}
        {%- endfor -%}
        {%- do adapter.add_query(statement, bindings=lists, abridge_sql_log=True) -%}
    {%- endfor -%}
    {{ return(statement) }}
{%- endmacro %}

{% macro json_list(values) -%}
    {%- set texts = [] -%}
    {%- for value in values -%}
        {%- do texts.append(none if value is none else value | string) -%}
    {%- endfor -%}
    {{ return(tojson(texts)) }}
{%- endmacro %}
