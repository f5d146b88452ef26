-- The months subscriptions are told for, from the first observation on. A month is observed when a sync or reconcile got through
-- in it, or a version was recorded in it; months older than the runs that are kept are taken as observed.
with versions as (
    select * from {{ ref('stg_finance__subscription_item_versions') }}
),

runs as (
    select * from {{ ref('stg_finance__runs') }}
    where kind in ('sync', 'reconcile')
),

first_observations as (
    select
        connection_id,
        {{ daybook.month_of(daybook.day_of('min(recorded_at)')) }} as first_month
    from versions
    group by connection_id
),

series as (
    select cast(day as date) as month
    from
        {{ daybook.date_series(
            '(select min(first_month) from first_observations)', daybook.month_of(daybook.as_of_date()), '1 month'
        ) }} as months
),

recorded_months as (
    select distinct
        connection_id,
        {{ daybook.month_of(daybook.day_of('recorded_at')) }} as month
    from versions
),

passed_months as (
    select distinct
        connection_id,
        {{ daybook.month_of(daybook.day_of('finished_at')) }} as month
    from runs
    where status in ('succeeded', 'partial') and finished_at is not null
),

oldest_runs as (
    select
        connection_id,
        {{ daybook.month_of(daybook.day_of('min(started_at)')) }} as oldest_month
    from runs
    group by connection_id
),

observed as (
    select
        first_observations.connection_id,
        series.month,
        least({{ daybook.month_end('series.month') }}, {{ daybook.as_of_date() }}) as state_date,
        series.month = first_observations.first_month as is_baseline,
        recorded_months.month is not null
        or passed_months.month is not null
        or coalesce(series.month < oldest_runs.oldest_month, true) as is_observed
    from first_observations
    inner join series on first_observations.first_month <= series.month
    left join recorded_months
        on
            first_observations.connection_id = recorded_months.connection_id
            and series.month = recorded_months.month
    left join passed_months
        on first_observations.connection_id = passed_months.connection_id and series.month = passed_months.month
    left join oldest_runs on first_observations.connection_id = oldest_runs.connection_id
)

select * from observed
