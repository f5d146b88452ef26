{#-
    The name that platforms put beside the ID of a vendor in their own records, which are there only for connections that ask for
    them. As QuickBooks (bills and credits, then purchases), Xero and NetSuite write it; null for the others.
-#}
{% macro platform_vendor_name() -%}
    {%- set places = [('VendorRef', 'name'), ('EntityRef', 'name'), ('Contact', 'Name'), ('entity', 'refName')] -%}
    {{- adapter.dispatch('first_text_in_json', 'daybook')('platform_data', places) }}
{%- endmacro %}

{%- macro postgres__first_text_in_json(document, places) %}
    coalesce(
        {%- for place in places %}
            nullif({{ document }} #>> '{{ '{' ~ place | join(',') ~ '}' }}', ''){{ "," if not loop.last }}
        {%- endfor %}
    )
{%- endmacro %}

{%- macro spark__first_text_in_json(document, places) %}
    coalesce(
        {%- for place in places %}
            nullif(get_json_object({{ document }}, '$.{{ place | join(".") }}'), ''){{ "," if not loop.last }}
        {%- endfor %}
    )
{%- endmacro %}

{#- Asked for one place after the other, DuckDB parses the document each time. -#}
{%- macro duckdb__first_text_in_json(document, places) %}
    list_filter(
        json_extract_string({{ document }}, [
            {%- for place in places -%}
                '$.{{ place | join(".") }}'{{ ", " if not loop.last }}
            {%- endfor -%}
        ]),
        lambda found: found <> ''
    )[1]
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
