{#-
    Analyzes a table that was just filled, because Postgres would otherwise plan with guesses. Also turns autovacuum off: a table
    that grew from nothing would be vacuumed within a minute, for minutes if it is large, and meanwhile it could be neither
    dropped nor replaced. Nothing in it ever changes, so there is nothing to vacuum.
-#}
{% macro finish_table(relation) -%}
    {{ return(adapter.dispatch('finish_table', 'daybook')(relation)) }}
{%- endmacro %}

{% macro default__finish_table(relation) -%}{%- endmacro %}

{% macro postgres__finish_table(relation) -%}
    {%- if config.get('materialized') != 'view' %}
        alter table {{ relation }} set (autovacuum_enabled = false);
    {%- endif %}
    analyze {{ relation }}
{%- endmacro %}
