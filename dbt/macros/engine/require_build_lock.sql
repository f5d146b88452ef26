{#-
    Fails if the build has lost its lock, so that a dbt that stood still, and wakes beside the next build, writes nothing. The lock is
    a transaction in pg_locks, named by an environment variable: with another variable in `vars`, dbt would parse every model again.
-#}
{% macro require_build_lock() -%}
    {{ return(adapter.dispatch('require_build_lock', 'daybook')()) }}
{%- endmacro %}

{% macro default__require_build_lock() -%}{%- endmacro %}

{% macro postgres__require_build_lock() -%}
    {#- Not while dbt parses: it would note the variable with each model. -#}
    {%- set lock = env_var('DAYBOOK_BUILD_LOCK', '') if execute else '' %}
    {%- if lock != '' %}
        do $$ begin
            if not exists (
                select from pg_locks
                where
                    relation = 'sync.marts_postgres_lock'::regclass
                    and database = (select oid from pg_database where datname = current_database())
                    and mode = 'ShareUpdateExclusiveLock'
                    and granted
                    and pid || ' ' || virtualtransaction = {{ dbt.string_literal(lock) }}
            ) then
                raise exception 'This build has lost its lock: another one may be writing.';
            end if;
        end $$
    {%- endif %}
{%- endmacro %}
