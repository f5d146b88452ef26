{#-
    A document number without what people type differently: case of A to Z, punctuation, zeros before a number (INV-0042 is
    INV-42). Letters are those of every alphabet. One without a digit above 0, such as N/A, is none: half of the books would be
    duplicates.
-#}
{% macro normalised_number(number) -%}
    case
        when regexp_replace({{ number }}, '[^1-9]', '', 'g') <> ''
            then translate(
                regexp_replace(
                    regexp_replace({{ number }}, '(^|[^0-9])0+([0-9])', '\1\2', 'g'), '{{ daybook.no_letter() }}', '', 'g'
                ),
                'abcdefghijklmnopqrstuvwxyz',
                'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
            )
    end
{%- endmacro %}
