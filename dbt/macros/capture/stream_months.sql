{#-
    The rows of the source stream_months. A snapshot of Daybook 0.5 or older has none, and its runs do not tell which stream
    failed. For such a snapshot only a successful run is known to have read subscriptions completely, the only stream that models
    ask for.
-#}
{% macro stream_months(source, runs) -%}
    {{ return(adapter.dispatch('stream_months', 'daybook')(source, runs)) }}
{%- endmacro %}

{% macro default__stream_months(source, runs) -%}
    select
        connection_id,
        stream,
        month,
        outcome,
        complete_until
    from {{ source }}
{%- endmacro %}

{% macro duckdb__stream_months(source, runs) -%}
    {%- set files = "select count(*) from glob('" ~ var('daybook_snapshot', '') | replace("'", "''") ~ "/stream_months/*.parquet')" %}
    {%- if execute and run_query(files).rows[0][0] == 0 %}
    select
        connection_id,
        'subscriptions' as stream,
        {{ daybook.month_of(daybook.day_of('finished_at')) }} as month,
        case when bool_or(status = 'succeeded') then 'complete' else 'incomplete' end as outcome,
        max({{ daybook.day_of('finished_at') }}) filter (where status = 'succeeded') as complete_until
    from {{ runs }}
    where kind in ('sync', 'reconcile') and finished_at is not null
    group by 1, 2, 3
    {%- else %}
    {{- daybook.default__stream_months(source, runs) }}
    {%- endif %}
{%- endmacro %}
