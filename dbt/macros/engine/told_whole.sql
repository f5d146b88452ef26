{#-
    Sets the full replica identity. Tables of marts have no key, so if all tables are published, Postgres lets their rows be
    changed only with it.
-#}
{% macro told_whole(relation) -%}
    {{ return(adapter.dispatch('told_whole', 'daybook')(relation)) }}
{%- endmacro %}

{% macro default__told_whole(relation) -%}{%- endmacro %}

{% macro postgres__told_whole(relation) -%}
    alter table {{ relation }} replica identity full
{%- endmacro %}
