{#- Made by "npm run generate" from resources/. The lists of records that are read of every connection, and the resource of each. -#}
{% macro copied_streams() -%}
    {{ return({
        'bills': 'bills',
        'expenses': 'expenses',
        'refunds': 'expenses',
        'bill_credit_memos': 'bill_credit_memos',
        'customers': 'customers',
        'items': 'items',
        'subscriptions': 'subscriptions'
    }) }}
{%- endmacro %}
