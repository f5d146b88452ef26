-- The months for which subscriptions are shown, beginning with the first version, or with the first month in which they were read
-- completely if that is earlier: none existed then, so later ones are new. A month is observed if a sync or reconcile that ended
-- in it had read subscriptions completely, whatever happened to other streams; months before the first known one count as
-- observed. A month last read before its last day is shown as of then, and is not complete: changes in the rest of it count in
-- the next month that was read. Months are those of UTC, so a month is over only once it is over in UTC as well; in zones ahead
-- of UTC, on the first day of the next month, that is known if subscriptions were read in a later month. Months whose end
-- versions pruning has removed, and the months before them, are not observed: history no longer shows them. If pruning removed
-- only other versions, a month before all of them is recorded.
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
        -- If the day was not recorded, it counts as the last one.
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
