with customers as (
    select * from {{ ref('stg_finance__customers') }}
),

{{ daybook.labelled('customers', 'customer_id', 'customer_name', 'Customer') }},

rooted as (
    select * from {{ ref('int_customers__rooted') }}
),

addresses as (
    select
        *,
        {{ daybook.lowered('type') }} as kind,
        row_number() over (partition by connection_id, customer_id, {{ daybook.lowered('type') }} order by position) as place
    from {{ ref('stg_finance__customer_addresses') }}
),

final as (
    select
        customers.connection_id,
        customers.customer_id,
        customers.platform_id,
        customers.customer_name,
        customers.label as customer_label,
        customers.contact_name,
        customers.status as source_status,
        case {{ daybook.lowered('customers.status') }}
            when 'active' then 'active'
            when 'inactive' then 'inactive'
            else 'unknown'
        end as status,
        customers.parent_id,
        rooted.top_parent_id,
        rooted.is_cyclic as has_cyclic_parents,
        customers.subsidiary_id,
        customers.currency_code,
        customers.email,
        customers.phone,
        customers.registration_number,
        customers.tax_number,
        {% for kind in ['billing', 'shipping'] -%}
            {% for part in ['address1', 'address2', 'city', 'region', 'postal_code', 'country'] -%}
                {{ kind }}.{{ part }} as {{ kind }}_{{ part }},
            {% endfor -%}
        {% endfor -%}
        customers.updated_at,
        customers.last_synced_at
    from labelled as customers
    inner join rooted
        on customers.connection_id = rooted.connection_id and customers.customer_id = rooted.customer_id
    {% for kind in ['billing', 'shipping'] -%}
        left join addresses as {{ kind }}
            on
                customers.connection_id = {{ kind }}.connection_id
                and customers.customer_id = {{ kind }}.customer_id
                and {{ kind }}.kind = '{{ kind }}'
                and {{ kind }}.place = 1
    {% endfor %}
)

select * from final
