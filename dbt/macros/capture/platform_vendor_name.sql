{#-
    The vendor's name beside its ID in the platform's own record, which exists only for connections that request it. Knows the
    places in which QuickBooks (bills and credits, then purchases), Xero and NetSuite write it; null for other platforms.
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

{#- One call for all places, because DuckDB parses the document again for each call. -#}
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

{#- The vendor's name in staging. On Postgres only the name was captured, because raw records are long. -#}
{% macro captured_vendor_name() -%}
    {{ return(adapter.dispatch('captured_vendor_name', 'daybook')()) }}
{%- endmacro %}

{% macro postgres__captured_vendor_name() -%}
    platform_vendor_name
{%- endmacro %}

{% macro default__captured_vendor_name() -%}
    {{ daybook.platform_vendor_name() }}
{%- endmacro %}
