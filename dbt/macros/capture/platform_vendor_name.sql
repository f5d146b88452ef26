{#-
    The name that platforms put beside the ID of a vendor in their own records, which are there only for connections that ask for
    them. As QuickBooks (bills and credits, then purchases), Xero and NetSuite write it; null for the others.
-#}
{% macro platform_vendor_name() -%}
    {%- set places = [('VendorRef', 'name'), ('EntityRef', 'name'), ('Contact', 'Name'), ('entity', 'refName')] -%}
    coalesce(
        {%- for place in places %}
            nullif({{ adapter.dispatch('text_in_json', 'daybook')('platform_data', place) }}, ''){{ "," if not loop.last }}
        {%- endfor %}
    )
{%- endmacro %}

{% macro postgres__text_in_json(document, place) -%}
    {{ document }} #>> '{{ '{' ~ place | join(',') ~ '}' }}'
{%- endmacro %}

{% macro duckdb__text_in_json(document, place) -%}
    json_extract_string({{ document }}, '$.{{ place | join(".") }}')
{%- endmacro %}

{% macro spark__text_in_json(document, place) -%}
    get_json_object({{ document }}, '$.{{ place | join(".") }}')
{%- endmacro %}

{#- In staging. On Postgres the name alone was captured: raw records are long. -#}
{% macro captured_vendor_name() -%}
    {{ return(adapter.dispatch('captured_vendor_name', 'daybook')()) }}
{%- endmacro %}

{% macro postgres__captured_vendor_name() -%}
    platform_vendor_name
{%- endmacro %}

{% macro default__captured_vendor_name() -%}
    {{ daybook.platform_vendor_name() }}
{%- endmacro %}
