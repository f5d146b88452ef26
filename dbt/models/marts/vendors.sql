with connections as (
    select * from {{ ref('stg_finance__connections') }}
),

bills as (
    select * from {{ ref('stg_finance__bills') }}
),

expenses as (
    select * from {{ ref('stg_finance__expenses') }}
),

credits as (
    select * from {{ ref('stg_finance__bill_credit_memos') }}
),

vendor_names as (
    select * from {{ ref('vendor_names') }}
),

sightings as (
    select
        connection_id,
        'bill' as document_type,
        vendor_id,
        platform_vendor_name,
        issue_date as document_date,
        coalesce(status = 'void', false) as is_void
    from bills
    union all
    select
        connection_id,
        'expense' as document_type,
        vendor_id,
        platform_vendor_name,
        transaction_date as document_date,
        false as is_void
    from expenses
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        vendor_id,
        platform_vendor_name,
        issue_date as document_date,
        coalesce(status = 'void', false) as is_void
    from credits
    union all
    -- The member for documents without a vendor.
    select
        connection_id,
        'none' as document_type,
        null as vendor_id,
        null as platform_vendor_name,
        cast(null as date) as document_date,
        false as is_void
    from connections
),

seen as (
    select
        connection_id,
        coalesce(vendor_id, '(none)') as vendor_id,
        min(document_date) as first_seen,
        max(document_date) as last_seen,
        count(*) filter (where document_type = 'bill') as bill_count,
        count(*) filter (where document_type = 'expense') as expense_count,
        count(*) filter (where document_type = 'vendor_credit') as vendor_credit_count
    from sightings
    group by connection_id, coalesce(vendor_id, '(none)')
),

-- The name on the latest document is the current one; preferably a document that stands and is not dated ahead.
named as (
    select
        connection_id,
        vendor_id,
        platform_vendor_name,
        row_number() over (
            partition by connection_id, vendor_id
            order by
                case when is_void or document_date > {{ daybook.as_of_date() }} then 1 else 0 end asc,
                document_date desc nulls last,
                {{ daybook.binary_order('platform_vendor_name') }} asc
        ) as place
    from sightings
    where {{ daybook.trimmed('platform_vendor_name') }} <> ''
),

known as (
    select
        seen.*,
        coalesce(
            nullif({{ daybook.trimmed('vendor_names.vendor_name') }}, ''),
            nullif({{ daybook.trimmed('named.platform_vendor_name') }}, '')
        ) as known_name
    from seen
    left join vendor_names
        on seen.connection_id = vendor_names.connection_id and seen.vendor_id = vendor_names.vendor_id
    left join named
        on seen.connection_id = named.connection_id and seen.vendor_id = named.vendor_id and named.place = 1
),

{{ daybook.labelled('known', 'vendor_id', "coalesce(known_name, case when vendor_id = '(none)' then '(none)' end)", 'Vendor') }},

final as (
    select
        connection_id,
        vendor_id,
        label as vendor_name,
        known_name,
        first_seen,
        last_seen,
        bill_count,
        expense_count,
        vendor_credit_count,
        known_name is null as is_inferred
    from labelled
)

select * from final
