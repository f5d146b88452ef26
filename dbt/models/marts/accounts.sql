with connections as (
    select * from {{ ref('stg_finance__connections') }}
),

bills as (
    select * from {{ ref('stg_finance__bills') }}
),

credits as (
    select * from {{ ref('stg_finance__bill_credit_memos') }}
),

expenses as (
    select * from {{ ref('stg_finance__expenses') }}
),

lines as (
    select * from {{ ref('int_spend__lined') }}
),

account_map as (
    select * from {{ ref('account_map') }}
),

sightings as (
    select
        connection_id,
        account_id,
        'ap_credit' as role
    from bills
    union all
    select
        connection_id,
        account_id,
        'ap_credit' as role
    from credits
    union all
    select
        connection_id,
        account_id,
        'payment_source' as role
    from expenses
    union all
    select
        connection_id,
        account_id,
        case when posting_status = 'excluded' then 'nothing' else 'expense_debit' end as role
    from lines
    union all
    -- The member for lines without an account.
    select
        connection_id,
        null as account_id,
        'nothing' as role
    from connections
),

seen as (
    select
        connection_id,
        coalesce(account_id, '(none)') as account_id,
        count(*) filter (where role = 'ap_credit') as ap_documents,
        count(*) filter (where role = 'payment_source') as expense_documents,
        count(*) filter (where role = 'expense_debit') as spend_lines
    from sightings
    group by connection_id, coalesce(account_id, '(none)')
),

known as (
    select
        seen.connection_id,
        seen.account_id,
        nullif({{ daybook.trimmed('account_map.account_name') }}, '') as known_name,
        account_map.account_type,
        case
            when seen.account_id = '(none)' then null
            when seen.ap_documents > 0 then 'ap_credit'
            when seen.expense_documents > 0 then 'payment_source'
            else 'expense_debit'
        end as role,
        seen.ap_documents,
        seen.expense_documents,
        seen.spend_lines
    from seen
    left join account_map
        on seen.connection_id = account_map.connection_id and seen.account_id = account_map.account_id
),

{{ daybook.labelled(
    'known', 'account_id', "coalesce(known_name, case when account_id = '(none)' then '(none)' end)", 'Account'
) }},

final as (
    select
        connection_id,
        account_id,
        label as account_name,
        known_name,
        account_type,
        role,
        ap_documents,
        expense_documents,
        spend_lines,
        known_name is null as is_inferred
    from labelled
)

select * from final
