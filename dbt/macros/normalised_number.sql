{#-
    A document number without differences in typing: case of A to Z, punctuation, zeros before a number (INV-0042 is INV-42). Any
    characters between two digits are a separator: 1-11 is 1/11, but not 11-1. Letters of every alphabet count. A number without a
    digit above 0, such as N/A, becomes null; otherwise half of the books would be duplicates.
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
