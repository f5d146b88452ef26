{#-
    A document number without what people type differently: case, punctuation, leading zeros. One without a digit above 0, such as
    N/A, is none: half of the books would be duplicates.
-#}
{% macro normalised_number(number) -%}
    case
        when regexp_replace({{ number }}, '[^1-9]', '', 'g') <> ''
            then ltrim(upper(regexp_replace({{ number }}, '[^A-Za-z0-9]', '', 'g')), '0')
    end
{%- endmacro %}
