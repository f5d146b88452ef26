-- Every account with its present name and type, those with the most spend first, for the template of the seed account_map. Names
-- of accounts that are not here are kept.
with accounts as (
    select * from {{ ref('accounts') }}
),

spend as (
    select
        connection_id,
        dimension_id as account_id,
        sum(spend) as spend
    from {{ ref('spend_by_dimension_monthly') }}
    where dimension = 'account'
    group by connection_id, dimension_id
),

account_map as (
    select * from {{ ref('account_map') }}
),

listed as (
    select
        accounts.connection_id,
        accounts.account_id,
        accounts.known_name as account_name,
        accounts.account_type,
        case when spend.account_id is null then 0 else spend.spend end as spend
    from accounts
    left join spend on accounts.connection_id = spend.connection_id and accounts.account_id = spend.account_id
    where accounts.account_id <> '(none)'
    union all
    select
        account_map.connection_id,
        account_map.account_id,
        account_map.account_name,
        account_map.account_type,
        0 as spend
    from account_map
    left join accounts
        on account_map.connection_id = accounts.connection_id and account_map.account_id = accounts.account_id
    where accounts.account_id is null
),

ranked as (
    select
        connection_id,
        account_id,
        account_name,
        account_type,
        row_number() over (
            order by {{ daybook.binary_order('connection_id') }}, spend desc nulls last, {{ daybook.binary_order('account_id') }}
        ) as place
    from listed
)

select * from ranked
