{#-
    What is due on a document, rolled back from what the source says is due now: no more than its total (or than what the source says, if
    that is more). A payment that is scheduled is told before the platform takes it off. Credits are negative.
-#}
{% macro no_more_than_its_total(amount, told_amount, total_amount, document_type) -%}
    case
        when {{ document_type }} = 'bill' and {{ total_amount }} > 0
            and {{ amount }} > greatest({{ told_amount }}, {{ total_amount }})
            then greatest({{ told_amount }}, {{ total_amount }})
        when {{ document_type }} = 'vendor_credit' and {{ total_amount }} < 0
            and {{ amount }} < least({{ told_amount }}, {{ total_amount }})
            then least({{ told_amount }}, {{ total_amount }})
        else {{ amount }}
    end
{%- endmacro %}
