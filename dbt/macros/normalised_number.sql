{#-
    A document number without what people type differently: case of A to Z, punctuation, zeros before a number (INV-0042 is
    INV-42). What stands between two digits is a border, whatever it is: 1-11 is 1/11, and not 11-1. Letters are those of every
    alphabet. One without a digit above 0, such as N/A, is none: half of the books would be duplicates.
-#}
{% macro normalised_number(number) -%}
    {%- set first, second = daybook.found_group(1), daybook.found_group(2) -%}
    {%- set without_zeros = daybook.all_replaced(number, '(^|[^0-9])0+([0-9])', first ~ second) -%}
    {%- set bordered = daybook.all_replaced(without_zeros, daybook.no_letter() ~ '+', '-') -%}
    {%- set after_digits = daybook.all_replaced(bordered, '(^|[^0-9])-', first) -%}
    {%- set between_digits = daybook.all_replaced(after_digits, '-([^0-9]|$)', first) -%}
    case
        when {{ daybook.all_replaced(number, '[^1-9]', '') }} <> ''
            then translate(
                {{ between_digits }},
                'abcdefghijklmnopqrstuvwxyz',
                'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
            )
    end
{%- endmacro %}
