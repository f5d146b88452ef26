{#- The day that the marts describe, decided once per build whatever the database's clock or zone. -#}
{% macro as_of_date() -%}
    cast('{{ daybook.as_of_day() }}' as date)
{%- endmacro %}

{% macro as_of_day() -%}
    {%- set given = var('daybook_as_of_date', '') -%}
    {%- if not given -%}
        {%- set zone = modules.pytz.timezone(var('daybook_reporting_timezone', 'UTC')) -%}
        {%- set given = run_started_at.astimezone(zone).strftime("%Y-%m-%d") -%}
    {%- endif -%}
    {{ return(given | string) }}
{%- endmacro %}

{#-
    The last day that is over both in the reporting time zone and in UTC, whatever the hour of the build. In a zone ahead of UTC,
    the day in UTC may still be the one before as_of_date.
-#}
{% macro last_day_over_in_utc() -%}
    {%- set zone = var('daybook_reporting_timezone', 'UTC') -%}
    {%- if zone[0] in '+-' -%}
        {%- set is_ahead = zone[0] == '+' -%}
    {%- else -%}
        {%- set midnight = modules.datetime.datetime.strptime(daybook.as_of_day(), '%Y-%m-%d') -%}
        {%- set offset = modules.pytz.timezone(zone).localize(midnight, is_dst=false).utcoffset() -%}
        {%- set is_ahead = offset.total_seconds() > 0 -%}
    {%- endif -%}
    {{ daybook.as_of_date() }} - {{ 2 if is_ahead else 1 }}
{%- endmacro %}

{% macro month_of(date) -%}
    cast(date_trunc('month', {{ date }}) as date)
{%- endmacro %}

{% macro add_months(date, months) -%}
    {{ return(adapter.dispatch('add_months', 'daybook')(date, months)) }}
{%- endmacro %}

{% macro default__add_months(date, months) -%}
    cast({{ date }} + {{ months }} * interval '1 month' as date)
{%- endmacro %}

{% macro spark__add_months(date, months) -%}
    add_months({{ date }}, {{ months }})
{%- endmacro %}

{% macro month_end(date) -%}
    {{ return(adapter.dispatch('month_end', 'daybook')(date)) }}
{%- endmacro %}

{% macro default__month_end(date) -%}
    cast(date_trunc('month', {{ date }}) + interval '1 month' - interval '1 day' as date)
{%- endmacro %}

{% macro spark__month_end(date) -%}
    last_day({{ date }})
{%- endmacro %}

{% macro day_of(moment) -%}
    {{ return(adapter.dispatch('day_of', 'daybook')(moment)) }}
{%- endmacro %}

{% macro default__day_of(moment) -%}
    cast({{ moment }} at time zone 'UTC' as date)
{%- endmacro %}

{#- The session is in UTC. -#}
{% macro spark__day_of(moment) -%}
    cast({{ moment }} as date)
{%- endmacro %}

{#-
    The day of a moment in the reporting time zone, to compare with as_of_date. The zone is a name, or an offset from UTC such as
    +05:30.
-#}
{% macro reporting_day_of(moment) -%}
    {{ return(adapter.dispatch('reporting_day_of', 'daybook')(moment)) }}
{%- endmacro %}

{% macro default__reporting_day_of(moment) -%}
    {%- set zone = var('daybook_reporting_timezone', 'UTC') -%}
    {%- if zone[0] in '+-' -%}
        {%- set minutes = zone[1:3] | int * 60 + zone[4:6] | int -%}
        cast({{ moment }} at time zone 'UTC' {{ zone[0] }} interval '{{ minutes }} minutes' as date)
    {%- else -%}
        cast({{ moment }} at time zone '{{ zone }}' as date)
    {%- endif -%}
{%- endmacro %}

{% macro spark__reporting_day_of(moment) -%}
    cast(from_utc_timestamp({{ moment }}, '{{ var("daybook_reporting_timezone", "UTC") }}') as date)
{%- endmacro %}

{#-
    The month in which something was recorded, in UTC like the months of passes. In a zone behind UTC, the next month may have
    begun in UTC; everything recorded by today counts at the latest in today's month.
-#}
{% macro recorded_month(moment) -%}
    {%- set month = daybook.month_of(daybook.day_of(moment)) -%}
    {%- set last = daybook.month_of(daybook.as_of_date()) -%}
    case when {{ month }} > {{ last }} then {{ last }} else {{ month }} end
{%- endmacro %}

{#- The number of days from one date to a later one. -#}
{% macro days_between(earlier, later) -%}
    {{ return(adapter.dispatch('days_between', 'daybook')(earlier, later)) }}
{%- endmacro %}

{% macro default__days_between(earlier, later) -%}
    cast({{ later }} - {{ earlier }} as bigint)
{%- endmacro %}

{% macro spark__days_between(earlier, later) -%}
    cast(datediff({{ later }}, {{ earlier }}) as bigint)
{%- endmacro %}

{#- A table expression of the dates from `first` to `last`, in a column `day`. -#}
{% macro date_series(first, last, step="1 day") -%}
    {{ return(adapter.dispatch('date_series', 'daybook')(first, last, step)) }}
{%- endmacro %}

{% macro default__date_series(first, last, step) -%}
    (
        select cast(moment as date) as day
        from generate_series(cast({{ first }} as timestamp), cast({{ last }} as timestamp), interval '{{ step }}') as series (moment)
    )
{%- endmacro %}

{#- On Spark a series that ends before it begins is an error. -#}
{% macro spark__date_series(first, last, step) -%}
    (
        select explode(case when bounds.first <= bounds.last then sequence(bounds.first, bounds.last, interval {{ step }}) end) as day
        from (select cast({{ first }} as date) as first, cast({{ last }} as date) as last) as bounds
    )
{%- endmacro %}

{#- 1 is Monday. -#}
{% macro day_of_week(date) -%}
    extract({{ adapter.dispatch('day_of_week_field', 'daybook')() }} from {{ date }})
{%- endmacro %}

{% macro default__day_of_week_field() -%}isodow{%- endmacro %}

{% macro spark__day_of_week_field() -%}dayofweek_iso{%- endmacro %}
