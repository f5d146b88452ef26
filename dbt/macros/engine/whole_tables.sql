{#-
    How Postgres joins in a model: by hashes of all columns that are compared. It would go through a second table for each row of
    the first where it expects a single row, as it does behind a join by several columns, and would compare by some of the columns
    what is sorted by them: both take the square of what belongs together. Where there is no other way than the former, it is thought
    so dear that compiling the statement seems worthwhile, which it is not.
-#}
{% macro whole_tables() -%}
    {{ return(adapter.dispatch('whole_tables', 'daybook')()) }}
{%- endmacro %}

{% macro default__whole_tables() -%}{%- endmacro %}

{% macro postgres__whole_tables() -%}
    select
        set_config('enable_nestloop', 'off', true),
        set_config('enable_mergejoin', 'off', true),
        set_config('jit', 'off', true)
{%- endmacro %}
