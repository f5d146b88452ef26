{#-
    How Postgres runs a model.
    Memory: what a step of a query has by default, 4 MB, sends the sums of large books to the disk.
    Joins: by hashes of all columns that are compared. It would go through a second table for each row of the first where it expects
    a single row, as it does behind a join by several columns, and would compare by some of the columns what is sorted by them: both
    take the square of what belongs together. Where there is no other way than the former, it is thought so dear that compiling the
    statement seems worthwhile, which it is not.
    Its end: a statement ends soon after the dbt that asked for it, however that ended.
-#}
{% macro statement_settings() -%}
    {{ return(adapter.dispatch('statement_settings', 'daybook')()) }}
{%- endmacro %}

{% macro default__statement_settings() -%}{%- endmacro %}

{% macro postgres__statement_settings() -%}
    select
        set_config('work_mem', '64MB', true),
        set_config('enable_nestloop', 'off', true),
        set_config('enable_mergejoin', 'off', true),
        set_config('jit', 'off', true),
        set_config('client_connection_check_interval', '2s', true)
{%- endmacro %}
