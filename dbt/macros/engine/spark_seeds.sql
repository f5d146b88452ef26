{#-
    Loads seeds as text literals. dbt-spark quotes a text without escaping, so an apostrophe ends it, and reads a number as a
    double, which rounds a rate.
-#}
{% macro spark__load_csv_rows(model, agate_table) -%}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- set statements = [] -%}
    {%- for rows in agate_table.rows | batch(1000) -%}
        {%- set statement -%}
            insert into {{ this.render() }} values
            {% for row in rows -%}
                (
                {%- for name in agate_table.column_names -%}
                    cast({{ daybook.spark_literal(row[loop.index0]) }} as {{ daybook.spark_type(types.get(name, 'text')) }})
                    {{- ", " if not loop.last }}
                {%- endfor -%}
                ){{ "," if not loop.last }}
            {% endfor -%}
        {%- endset -%}
        {%- do adapter.add_query(statement, abridge_sql_log=True) -%}
        {%- do statements.append(statement) -%}
    {%- endfor -%}
    {{ return(statements[0]) }}
{%- endmacro %}

{% macro spark__create_csv_table(model, agate_table) -%}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- set made -%}
        create or replace table {{ this.render() }} (
        {%- for name in agate_table.column_names -%}
            {{ adapter.quote(name) }} {{ daybook.spark_type(types.get(name, 'text')) }}{{ ", " if not loop.last }}
        {%- endfor -%}
        ) {{ file_format_clause() }}
    {%- endset -%}
    {%- call statement('_') -%}{{ made }}{%- endcall -%}
    {{ return(made) }}
{%- endmacro %}

{% macro spark_type(name) -%}
    {{- {'text': 'string', 'timestamptz': 'timestamp', 'float8': 'double'}.get(name, name) -}}
{%- endmacro %}

{% macro spark_literal(value) -%}
    {%- if value is none -%}
        null
    {%- else -%}
        '{{ value | string | replace("\\", "\\\\") | replace("'", "\\'") }}'
    {%- endif -%}
{%- endmacro %}
