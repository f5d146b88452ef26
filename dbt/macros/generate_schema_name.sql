{#-
    In Daybook's own builds a schema has exactly its custom name. dbt also finds this macro in a user's project; there schemas get
    their usual prefix, so that two projects never write to Daybook's schemas.
-#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {%- if project_name == 'daybook' and custom_schema_name is not none -%}
        {{ custom_schema_name | trim }}
    {%- else -%}
        {{ default__generate_schema_name(custom_schema_name, node) }}
    {%- endif -%}
{%- endmacro %}
