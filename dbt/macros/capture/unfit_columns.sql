{#- Made by "npm run generate" from resources/. Of each source table its key, what else names a row, and its decimals by their scale. -#}
{% macro unfit_columns() -%}
    {{ return({
        'bills': {
            'key': 'id',
            'places': [],
            'scales': {'amount_due': 9, 'total_amount': 9, 'sub_total': 9, 'tax_amount': 9, 'total_discount': 9, 'currency_rate': 12}
        },
        'bill_lines': {
            'key': 'bill_id',
            'places': ['position'],
            'scales': {'discount_amount': 9, 'discount_percentage': 9, 'sub_total': 9, 'tax_amount': 9, 'total_amount': 9, 'item_quantity': 9, 'item_unit_amount': 12}
        },
        'bill_payment_allocations': {
            'key': 'bill_id',
            'places': ['position'],
            'scales': {'allocated_amount': 9}
        },
        'bill_credit_allocations': {
            'key': 'bill_id',
            'places': ['position'],
            'scales': {'allocated_amount': 9}
        },
        'expenses': {
            'key': 'id',
            'places': [],
            'scales': {'currency_rate': 12}
        },
        'expense_lines': {
            'key': 'expense_id',
            'places': ['position'],
            'scales': {'total_amount': 9}
        },
        'bill_credit_memos': {
            'key': 'id',
            'places': [],
            'scales': {'remaining_amount': 9, 'total_amount': 9}
        },
        'bill_credit_memo_lines': {
            'key': 'bill_credit_memo_id',
            'places': ['position'],
            'scales': {'discount_amount': 9, 'discount_percentage': 9, 'sub_total': 9, 'tax_amount': 9, 'total_amount': 9, 'item_quantity': 9, 'item_unit_amount': 12}
        },
        'bill_credit_memo_allocations': {
            'key': 'bill_credit_memo_id',
            'places': ['position'],
            'scales': {'allocated_amount': 9}
        },
        'items': {
            'key': 'id',
            'places': [],
            'scales': {'quantity_on_hand': 9, 'bill_unit_price': 12, 'invoice_unit_price': 12}
        },
        'subscription_item_versions': {
            'key': 'subscription_id',
            'places': ['position', 'recorded_at'],
            'scales': {'quantity': 9, 'amount': 9, 'unit_amount': 12}
        }
    }) }}
{%- endmacro %}
