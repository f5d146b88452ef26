-- Every line of every document with its sign in spend, and one balancing line (position -1) if the header of a bill or credit
-- memo is not, or may not be, the sum of its lines, or has no lines. Includes excluded documents, because marts.bills needs their
-- amounts.
with bills as (
    select * from {{ ref('stg_finance__bills') }}
),

bill_lines as (
    select * from {{ ref('int_bill_lines__netted') }}
),

-- With a type, like the headers: a condition on one side alone would make DuckDB compare every pair of rows.
bill_taxes as (
    select
        'bill' as document_type,
        *
    from {{ ref('int_bills__taxed') }}
),

credits as (
    select * from {{ ref('stg_finance__bill_credit_memos') }}
),

credit_lines as (
    select * from {{ ref('int_bill_credit_memo_lines__taxed') }}
),

expenses as (
    select * from {{ ref('stg_finance__expenses') }}
),

expense_lines as (
    select * from {{ ref('stg_finance__expense_lines') }}
),

unfit_expense_lines as (
    {{ daybook.unfit_rows('expense_lines', ['total_amount']) }}
),

rated as (
    select * from {{ ref('int_documents__rated') }}
),

headers as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        1 as sign,
        issue_date as spend_date,
        {{ daybook.posting_status('status') }} as posting_status,
        vendor_id,
        currency_code,
        document_number,
        total_amount
    from bills
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        bill_credit_memo_id as document_id,
        -1 as sign,
        issue_date as spend_date,
        {{ daybook.posting_status('status') }} as posting_status,
        vendor_id,
        currency_code,
        document_number,
        total_amount
    from credits
),

document_lines as (
    select
        connection_id,
        'bill' as document_type,
        bill_id as document_id,
        position,
        account_id,
        class_id,
        department_id,
        location_id,
        customer_id,
        item_id,
        description,
        gross_amount,
        net_amount,
        tax_treatment,
        coalesce(tax_amount <> 0, false) as tells_tax
    from bill_lines
    union all
    select
        connection_id,
        'vendor_credit' as document_type,
        bill_credit_memo_id as document_id,
        position,
        account_id,
        class_id,
        department_id,
        location_id,
        customer_id,
        item_id,
        description,
        gross_amount,
        net_amount,
        tax_treatment,
        coalesce(tax_amount <> 0, false) as tells_tax
    from credit_lines
),

line_totals as (
    select
        connection_id,
        document_type,
        document_id,
        {{ daybook.whole_sum('gross_amount') }} as gross_amount,
        bool_or(tells_tax and tax_treatment = 'unknown') as has_unknown_tax
    from document_lines
    group by connection_id, document_type, document_id
),

balances as (
    select
        headers.*,
        headers.total_amount - case when line_totals.document_id is null then 0 else line_totals.gross_amount end
            as missing_amount,
        line_totals.document_id is null as is_without_lines,
        coalesce(line_totals.has_unknown_tax, false) as has_unknown_tax
    from headers
    left join line_totals
        on
            headers.connection_id = line_totals.connection_id
            and headers.document_type = line_totals.document_type
            and headers.document_id = line_totals.document_id
),

-- Tax that only the header tells is no net amount; if it may be in the lines, the net amount of the rest is not known. Nor is
-- that of a rest beside a line whose tax cannot be separated, or of a credit's amount beyond its lines, for which the API tells
-- no tax.
netted_balances as (
    select
        balances.*,
        case
            when balances.has_unknown_tax and balances.missing_amount <> 0 then null
            when
                balances.document_type = 'vendor_credit'
                and abs(balances.missing_amount) > {{ daybook.noise('balances.currency_code') }}
                then null
            when bill_taxes.header_tax = 'told' and bill_taxes.may_miss_tax then null
            when balances.document_type = 'vendor_credit' or bill_taxes.header_tax = 'told' then balances.missing_amount
            when bill_taxes.header_tax = 'on_top' then balances.missing_amount - bill_taxes.untold_tax
        end as missing_net_amount
    from balances
    left join bill_taxes
        on
            balances.document_type = bill_taxes.document_type
            and balances.connection_id = bill_taxes.connection_id
            and balances.document_id = bill_taxes.bill_id
),

-- A line without a total is a remark, worth 0; a line whose total does not fit is not known.
valued_expense_lines as (
    select
        lines.*,
        case when unfit_expense_lines.record_id is null then coalesce(lines.total_amount, 0) end as gross_amount
    from expense_lines as lines
    left join unfit_expense_lines
        on
            lines.connection_id = unfit_expense_lines.connection_id
            and lines.expense_id = unfit_expense_lines.record_id
            and lines.position = unfit_expense_lines.position
),

expense_totals as (
    select
        connection_id,
        expense_id,
        {{ daybook.whole_sum('gross_amount') }} as total_amount
    from valued_expense_lines
    group by connection_id, expense_id
),

signed as (
    select
        headers.connection_id,
        headers.document_type,
        headers.document_type as source_type,
        headers.document_id,
        lines.position,
        headers.sign,
        headers.spend_date,
        headers.posting_status,
        headers.vendor_id,
        headers.currency_code,
        headers.document_number,
        lines.account_id,
        lines.class_id,
        lines.department_id,
        lines.location_id,
        lines.customer_id,
        lines.item_id,
        lines.description,
        lines.gross_amount,
        lines.net_amount,
        lines.tax_treatment
    from document_lines as lines
    inner join headers
        on
            lines.connection_id = headers.connection_id
            and lines.document_type = headers.document_type
            and lines.document_id = headers.document_id
    union all
    select
        connection_id,
        document_type,
        document_type as source_type,
        document_id,
        -1 as position,
        sign,
        spend_date,
        posting_status,
        vendor_id,
        currency_code,
        document_number,
        null as account_id,
        null as class_id,
        null as department_id,
        null as location_id,
        null as customer_id,
        null as item_id,
        'Difference between the document and its lines' as description,
        missing_amount as gross_amount,
        missing_net_amount as net_amount,
        'balancing' as tax_treatment
    from netted_balances
    where missing_amount is distinct from 0 or is_without_lines
    union all
    select
        expenses.connection_id,
        'expense' as document_type,
        case when expenses.expense_type = 'refund' then 'refund' else 'expense' end as source_type,
        expenses.expense_id as document_id,
        lines.position,
        case
            when expenses.expense_type = 'refund' and expense_totals.total_amount is null then null
            when expenses.expense_type = 'refund' and expense_totals.total_amount > 0 then -1
            else 1
        end as sign,
        expenses.transaction_date as spend_date,
        'posted' as posting_status,
        expenses.vendor_id,
        expenses.currency_code,
        null as document_number,
        lines.account_id,
        lines.class_id,
        lines.department_id,
        lines.location_id,
        lines.customer_id,
        null as item_id,
        lines.description,
        lines.gross_amount,
        cast(null as numeric(38, 9)) as net_amount,
        'unknown' as tax_treatment
    from valued_expense_lines as lines
    inner join expenses
        on lines.connection_id = expenses.connection_id and lines.expense_id = expenses.expense_id
    inner join expense_totals
        on lines.connection_id = expense_totals.connection_id and lines.expense_id = expense_totals.expense_id
),

lined as (
    select
        signed.connection_id,
        signed.document_type,
        signed.source_type,
        signed.document_id,
        cast(signed.position as bigint) as position,
        signed.spend_date,
        signed.posting_status,
        coalesce(signed.vendor_id, '(none)') as vendor_id,
        signed.currency_code,
        signed.document_number,
        signed.account_id,
        signed.class_id,
        signed.department_id,
        signed.location_id,
        signed.customer_id,
        signed.item_id,
        signed.description,
        signed.tax_treatment,
        cast(signed.sign * signed.gross_amount as numeric(38, 9)) as gross_amount,
        cast(signed.sign * signed.net_amount as numeric(38, 9)) as net_amount,
        cast(signed.sign * {{ daybook.to_base('signed.gross_amount', 'rated') }} as numeric(38, 9)) as gross_amount_base,
        cast(signed.sign * {{ daybook.to_base('signed.net_amount', 'rated') }} as numeric(38, 9)) as net_amount_base,
        rated.base_currency,
        rated.fx_rate,
        rated.fx_status
    from signed
    inner join rated
        on
            signed.connection_id = rated.connection_id
            and signed.document_type = rated.document_type
            and signed.document_id = rated.document_id
)

select * from lined
