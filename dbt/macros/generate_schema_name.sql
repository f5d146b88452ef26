{#-
    Built by Daybook, a schema is called what it is called. In a user's own project dbt finds this macro too, and there schemas get the
    prefix they have everywhere else: Daybook's own must not be written by two.
-#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {%- if project_name == 'daybook' and custom_schema_name is not none -%}
        {{ custom_schema_name | trim }}
    {%- else -%}
        {{ default__generate_schema_name(custom_schema_name, node) }}
    {%- endif -%}
{%- endmacro %}
