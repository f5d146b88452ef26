{#-
    A document number without what people type differently: case of A to Z, punctuation, zeros before a number (INV-0042 is
    INV-42). Letters are those of every alphabet. One without a digit above 0, such as N/A, is none: half of the books would be
    duplicates.
-#}
{% macro normalised_number(number) -%}
    case
        when {{ daybook.all_replaced(number, '[^1-9]', '') }} <> ''
            then translate(
                {{ daybook.all_replaced(
                    daybook.all_replaced(number, '(^|[^0-9])0+([0-9])', daybook.found_group(1) ~ daybook.found_group(2)),
                    daybook.no_letter(), ''
                ) }},
                'abcdefghijklmnopqrstuvwxyz',
                'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
            )
    end
{%- endmacro %}
