{#-
    A document number without what people type differently: case, punctuation, zeros before a number (INV-0042 is INV-42). One without a
    digit above 0, such as N/A, is none: half of the books would be duplicates.
-#}
{% macro normalised_number(number) -%}
    case
        when regexp_replace({{ number }}, '[^1-9]', '', 'g') <> ''
            then upper(
                regexp_replace(
                    regexp_replace({{ number }}, '(^|[^0-9])0+([0-9])', '\1\2', 'g'), '[^A-Za-z0-9]', '', 'g'
                )
            )
    end
{%- endmacro %}
