with connections as (
    select * from {{ ref('stg_finance__connections') }}
),

found as (
    select * from {{ ref('int_quality__found') }}
),

quarantined as (
    select
        connection_id,
        sum(open_entries) as failed_rows
    from {{ ref('stg_finance__quarantine_counts') }}
    group by connection_id
),

checks as (
    {% for check_name, rows, key, condition in daybook.quality_checks() -%}
        select '{{ check_name }}' as check_name
        {{ "union all" if not loop.last }}
    {% endfor %}
),

ranked as (
    select
        connection_id,
        check_name,
        record_id,
        row_number() over (
            partition by connection_id, check_name
            order by {{ daybook.binary_order('record_id') }}
        ) as place
    from found
),

counted as (
    select
        connection_id,
        check_name,
        count(*) as failed_rows,
        {{ daybook.text_list('record_id', 'place', 'place <= 5') }} as sample_ids
    from ranked
    group by connection_id, check_name
),

final as (
    select
        connections.connection_id,
        checks.check_name,
        coalesce(counted.failed_rows, 0) as failed_rows,
        counted.sample_ids,
        {{ daybook.as_of_date() }} as as_of_date
    from connections
    cross join checks
    left join counted
        on connections.connection_id = counted.connection_id and checks.check_name = counted.check_name
    union all
    select
        connections.connection_id,
        'quarantined_record' as check_name,
        cast(coalesce(quarantined.failed_rows, 0) as bigint) as failed_rows,
        null as sample_ids,
        {{ daybook.as_of_date() }} as as_of_date
    from connections
    left join quarantined on connections.connection_id = quarantined.connection_id
)

select * from final
