-- Every document with the rate that converts its amounts into the base currency, or the reason why there is none. A rate is never
-- guessed.
with bills as (
    select * from {{ ref('stg_finance__bills') }}
),

expenses as (
    select * from {{ ref('stg_finance__expenses') }}
),

credits as (
    select * from {{ ref('stg_finance__bill_credit_memos') }}
),

connections as (
    select * from {{ ref('int_connections__settled') }}
),

seeded_rates as (
    select
        {{ daybook.currency_code('from_currency') }} as from_currency,
        {{ daybook.currency_code('to_currency') }} as to_currency,
        valid_from,
        rate
    from {{ ref('fx_rates') }}
),

-- Rates that were sent but are not known here: too large, or a text that is no number.
unknown_rates as (
    select
        connection_id,
        case table_name when 'bills' then 'bill' else 'expense' end as document_type,
        record_id
    from {{ ref('stg_finance__unfit_values') }}
    where column_name = 'currency_rate' and not is_rounded
    union
    select
        connection_id,
        case resource when 'bills' then 'bill' else 'expense' end as document_type,
        record_id
    from {{ ref('stg_finance__field_issues') }}
    where field = 'currency_rate'
),

documents as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        currency_code,
        issue_date as document_date,
        currency_rate as own_rate
    from bills
    union all
    select
        connection_id,
        'expense' as document_type,
        expense_id as document_id,
        currency_code,
        transaction_date as document_date,
        currency_rate as own_rate
    from expenses
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        bill_credit_memo_id as document_id,
        currency_code,
        issue_date as document_date,
        cast(null as numeric(38, 12)) as own_rate
    from credits
),

seeded_periods as (
    select
        from_currency,
        to_currency,
        rate,
        valid_from,
        lead(valid_from) over (partition by from_currency, to_currency order by valid_from) as next_from
    from seeded_rates
    where rate > 0
),

judged as (
    select
        documents.connection_id,
        documents.document_type,
        documents.document_id,
        connections.base_currency,
        connections.base_minor_units,
        case
            when documents.currency_code = connections.base_currency then 1
            when documents.own_rate > 0 and connections.rates_multiply then documents.own_rate
            when unknown_rates.record_id is null or not connections.rates_multiply then seeded_periods.rate
        end as rate,
        case
            when connections.base_currency is null then 'no_base_currency'
            when documents.currency_code is null then 'no_currency'
            when documents.currency_code = connections.base_currency then 'base_currency'
            when documents.own_rate > 0 and connections.rates_multiply then 'document_rate'
            when unknown_rates.record_id is not null and connections.rates_multiply then 'missing_rate'
            when seeded_periods.rate is not null then 'seed_rate'
            when documents.own_rate > 0 then 'unverified_direction'
            when documents.document_type = 'vendor_credit' then 'no_rate_in_source'
            else 'missing_rate'
        end as fx_status
    from documents
    inner join connections on documents.connection_id = connections.connection_id
    left join unknown_rates
        on
            documents.connection_id = unknown_rates.connection_id
            and documents.document_type = unknown_rates.document_type
            and documents.document_id = unknown_rates.record_id
    left join seeded_periods
        on
            documents.currency_code = seeded_periods.from_currency
            and connections.base_currency = seeded_periods.to_currency
            and documents.document_date >= seeded_periods.valid_from
            and (seeded_periods.next_from is null or documents.document_date < seeded_periods.next_from)
),

rated as (
    select
        connection_id,
        document_type,
        document_id,
        base_currency,
        base_minor_units,
        cast(
            case when fx_status in ('base_currency', 'document_rate', 'seed_rate') then rate end as numeric(38, 12)
        ) as fx_rate,
        fx_status
    from judged
)

select * from rated
