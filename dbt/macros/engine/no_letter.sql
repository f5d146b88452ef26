{#-
    A regular expression of what is neither a letter nor a digit: of ASCII, of the blocks of punctuation and symbols, of what is
    as wide as a Chinese character. Classes such as [:alpha:] hang on the locale of the database, and DuckDB's are of ASCII
    alone.
-#}
{% macro no_letter() -%}
    {{ return(adapter.dispatch('no_letter', 'daybook')()) }}
{%- endmacro %}

{% macro postgres__no_letter() -%}
    [\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u2bff\u3000-\u303f\ufe30-\ufe6f\uff00-\uff0f\uff1a-\uff20]
{%- endmacro %}

{% macro duckdb__no_letter() -%}
    [\x01-\x2f\x3a-\x40\x5b-\x60\x{7b}-\x{bf}\x{2000}-\x{2bff}\x{3000}-\x{303f}\x{fe30}-\x{fe6f}\x{ff00}-\x{ff0f}\x{ff1a}-\x{ff20}]
{%- endmacro %}
