with listed as (
    {{ daybook.unfit_values({
        'bills': ('id', ['amount_due', 'total_amount', 'sub_total', 'tax_amount', 'total_discount', 'currency_rate']),
        'bill_lines': ('bill_id', [
            'discount_amount', 'discount_percentage', 'sub_total', 'tax_amount', 'total_amount', 'item_quantity',
            'item_unit_amount'
        ]),
        'bill_payment_allocations': ('bill_id', ['allocated_amount']),
        'bill_credit_allocations': ('bill_id', ['allocated_amount']),
        'expenses': ('id', ['currency_rate']),
        'expense_lines': ('expense_id', ['total_amount']),
        'bill_credit_memos': ('id', ['remaining_amount', 'total_amount']),
        'bill_credit_memo_lines': ('bill_credit_memo_id', [
            'discount_amount', 'discount_percentage', 'sub_total', 'tax_amount', 'total_amount', 'item_quantity',
            'item_unit_amount'
        ]),
        'bill_credit_memo_allocations': ('bill_credit_memo_id', ['allocated_amount']),
        'items': ('id', ['quantity_on_hand', 'bill_unit_price', 'invoice_unit_price']),
        'subscription_item_versions': ('subscription_id', ['quantity', 'amount', 'unit_amount'])
    }) }}
),

connections as (
    select * from {{ ref('stg_finance__connections') }}
),

in_this_world as (
    select
        table_name,
        connection_id,
        record_id,
        column_name
    from listed
    where connection_id in (select connections.connection_id from connections)
)

select * from in_this_world
