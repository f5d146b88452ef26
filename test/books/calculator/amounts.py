"""Decimals as an accountant has them: exact, or not known. No amount here is ever a float."""

from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from fractions import Fraction
import re

# More digits than any product or sum of two amounts has.
_exact = Context(prec=400)

MONEY_PLACES = 9
RATE_PLACES = 12
_LIMIT = Decimal(10) ** 17
_RATE_LIMIT = Decimal(10) ** 13

_NUMBER = re.compile(r'^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$')

# The number of decimals of each currency in ISO 4217.
_PLACES = {
    **dict.fromkeys(
        '''
        AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD
        CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
        GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD
        MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR
        PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP
        TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG ZWL
        '''.split(),
        2,
    ),
    **dict.fromkeys('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(), 0),
    **dict.fromkeys('BHD IQD JOD KWD LYD OMR TND'.split(), 3),
    **dict.fromkeys('CLF UYW'.split(), 4),
}


def places_of(currency):
    """For a code that ISO does not have, as many decimals as amounts have."""
    return _PLACES.get(currency, MONEY_PLACES)


def rounded(value, places):
    """Rounds half away from zero."""
    if isinstance(value, Fraction):
        scaled = abs(value) * 10**places
        whole = scaled.numerator // scaled.denominator
        if (scaled - whole) * 2 >= 1:
            whole += 1
        return Decimal(whole if value >= 0 else -whole).scaleb(-places, _exact)
    return value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP, context=_exact)


def decimal_text(text):
    """A decimal that the API sends as a text. None if it is no number."""
    if not isinstance(text, str) or not _NUMBER.match(text.strip()):
        return None
    return Decimal(text.strip())


def is_unreadable(text):
    """Whether a text was sent for a decimal that is no number. An empty text does not count."""
    return isinstance(text, str) and text != '' and decimal_text(text) is None


class Fitted:
    """The value of an API field here: exact, rounded, or too large to be known."""

    def __init__(self, sent, places):
        self.is_rounded = False
        self.is_too_large = False
        self.value = None
        if sent is None:
            return
        value = rounded(sent, places)
        if abs(value) >= _LIMIT:
            self.is_too_large = True
        else:
            self.value, self.is_rounded = value, value != sent


def total(values):
    """The sum of all parts. None if any part is not known."""
    with localcontext(_exact):
        result = Decimal(0)
        for value in values:
            if value is None:
                return None
            result += value
        return result


def less(first, *others):
    """`first` minus all the others."""
    rest = total(others)
    if first is None or rest is None:
        return None
    return _exact.subtract(first, rest)


def negative(value):
    return None if value is None else _exact.minus(value)


def times(amount, rate, places):
    """A product, rounded once. None if either factor is not known, or a factor or the product is too large."""
    if amount is None or rate is None or abs(amount) >= _LIMIT or abs(rate) >= _RATE_LIMIT:
        return None
    product = rounded(Fraction(amount) * Fraction(rate), places)
    return None if abs(product) >= _LIMIT else product


def is_noise(currency, amount):
    """Whether an amount is at most half a minor unit, or, without a minor unit, a residue of doubles: services compute that way."""
    half = Decimal(1).scaleb(-places_of(currency)) / 2 if currency in _PLACES else Decimal('0.000001')
    return abs(amount) <= half


def share(part, whole):
    """A ratio. Ratios are the only inexact numbers, and only when they are printed."""
    if part is None or whole is None or whole == 0:
        return None
    return Fraction(part) / Fraction(whole)
