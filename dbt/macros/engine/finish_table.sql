{#-
    Postgres plans a table that was filled a moment ago by guessing, unless it is told. And since it grew from nothing, it would be
    vacuumed within a minute: for minutes where it is large, in which it can be neither dropped nor replaced. Nothing in it ever
    changes, so there is nothing to vacuum.
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
