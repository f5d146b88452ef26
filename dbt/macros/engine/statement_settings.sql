{#-
    Settings with which Postgres runs a model.
    Memory: the default for a step of a query, 4 MB, would send the sums of large books to disk.
    Joins: by hashes of all compared columns. The planner expects a single row after a join by several columns. It would then scan
    a second table for each row of the first (nested loop), or compare sorted rows by only some of the columns (merge): both take
    the square of each group. Where only a nested loop is possible, its estimated cost is so high that JIT compilation seems
    worthwhile, which it is not.
    End: a statement ends soon after the dbt that sent it, however that ended.
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
