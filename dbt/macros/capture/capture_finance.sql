{#- Copies the models' input into the capture schema, in one REPEATABLE READ transaction. A snapshot needs no copy. -#}
{% macro capture_finance() -%}
    {{ return(adapter.dispatch('capture_finance', 'daybook')()) }}
{%- endmacro %}

{% macro default__capture_finance() -%}{%- endmacro %}

{% macro postgres__capture_finance() -%}
    {%- if execute %}
        {%- set sources = graph.sources.values() | selectattr('package_name', 'equalto', 'daybook') | list %}
        commit;
        begin isolation level repeatable read;
        {{ daybook.require_build_lock() }};
        set local client_connection_check_interval = '2s';
        create schema if not exists {{ adapter.quote(sources[0].schema) }};
        {%- for source in sources %}
            {%- set captured = adapter.quote(source.schema) ~ '.' ~ adapter.quote(source.identifier) %}
            drop table if exists {{ captured }} cascade;
            create unlogged table {{ captured }} with (autovacuum_enabled = false) as
            select
                {%- for column in source.columns.values() %}
                    {{ daybook.platform_vendor_name() ~ ' as ' if column.name == 'platform_vendor_name' }}
                    {{- adapter.quote(column.name) }}{{ "," if not loop.last }}
                {%- endfor %}
            from {{ source.config.meta.captured_from }};
        {%- endfor %}
        commit;
        begin;
        {%- for source in sources %}
            analyze {{ adapter.quote(source.schema) }}.{{ adapter.quote(source.identifier) }};
        {%- endfor %}
    {%- endif %}
{%- endmacro %}
