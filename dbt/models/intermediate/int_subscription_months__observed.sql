-- The months subscriptions are told for, from the first version on, or from the first month in which they were read completely,
-- when that was before: there were none then, so what comes later is new. A month is observed when a sync or reconcile that
-- ended in it had read subscriptions completely, whatever became of other streams; months before the first that is known of
-- are taken as observed. One that was last read before its last day is told as of then, and is not complete: what changed in
-- the rest of it counts in the month that was read next. Months are those of UTC, so a month is over once it is in UTC as well:
-- on the first day of the next one, in zones ahead of UTC, that is known when subscriptions were read in a later month. Months
-- whose end pruning has removed versions of, and those before them, are not observed: history cannot tell them any more. Where it
-- removed others only, a month before all of them is noted.
with versions as (
    select * from {{ ref('stg_finance__subscription_item_versions') }}
    where {{ daybook.reporting_day_of('recorded_at') }} <= {{ daybook.as_of_date() }}
),

stream_months as (
    select * from {{ ref('stg_finance__stream_months') }}
),

first_versions as (
    select
        connection_id,
        {{ daybook.recorded_month('min(recorded_at)') }} as first_month
    from versions
    group by connection_id
),

complete_months as (
    select
        connection_id,
        month,
        complete_until
    from stream_months
    where stream = 'subscriptions' and outcome = 'complete'
),

last_reads as (
    select
        connection_id,
        max(month) as last_read_month
    from complete_months
    group by connection_id
),

starts as (
    select
        first_versions.connection_id,
        least(first_versions.first_month, coalesce(min(complete_months.month), first_versions.first_month)) as first_month
    from first_versions
    left join complete_months on first_versions.connection_id = complete_months.connection_id
    group by first_versions.connection_id, first_versions.first_month
),

series as (
    select cast(day as date) as month
    from
        {{ daybook.date_series(
            '(select min(first_month) from starts)', daybook.month_of(daybook.as_of_date()), '1 month'
        ) }} as months
),

known_since as (
    select
        connection_id,
        min(month) as first_known_month
    from stream_months
    where outcome <> 'pruned'
    group by connection_id
),

pruned as (
    select
        connection_id,
        max(month) as last_pruned_month
    from stream_months
    where stream = 'subscriptions' and outcome = 'pruned'
    group by connection_id
),

told as (
    select
        starts.connection_id,
        series.month,
        complete_months.complete_until,
        last_reads.last_read_month,
        pruned.connection_id is not null as has_pruned_months,
        coalesce(series.month > pruned.last_pruned_month, true)
        and (
            complete_months.month is not null
            or coalesce(series.month < known_since.first_known_month, true)
        ) as is_observed
    from starts
    inner join series on starts.first_month <= series.month
    left join complete_months
        on starts.connection_id = complete_months.connection_id and series.month = complete_months.month
    left join last_reads on starts.connection_id = last_reads.connection_id
    left join known_since on starts.connection_id = known_since.connection_id
    left join pruned on starts.connection_id = pruned.connection_id
),

observed as (
    select
        connection_id,
        month,
        coalesce(month = min(case when is_observed then month end) over (partition by connection_id), false) as is_baseline,
        is_observed,
        case when is_observed then complete_until end as observed_until,
        -- Where the day was not written down it is taken as the last one.
        is_observed
        and {{ daybook.month_end('month') }} < {{ daybook.as_of_date() }}
        and (
            {{ daybook.month_end('month') }} <= {{ daybook.last_day_over_in_utc() }}
            or coalesce(month < last_read_month, false)
        )
        and coalesce(complete_until = {{ daybook.month_end('month') }}, true) as is_complete,
        has_pruned_months
    from told
)

select * from observed
