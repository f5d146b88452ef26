"""Converts an amount to the base currency of a company, or says why that is not possible."""

from amounts import places_of, times


class Rate:
    def __init__(self, book, document, has_rates=True):
        self.base = book.base_currency
        self.value, self.status = self._find(book, document, has_rates)

    def _find(self, book, document, has_rates):
        if self.base is None:
            return None, 'no_base_currency'
        if document.currency is None:
            return None, 'no_currency'
        if document.currency == self.base:
            return 1, 'base_currency'
        own = document.own_rate
        if own is not None and own > 0 and book.rates_multiply:
            return own, 'document_rate'
        if document.has_unknown_rate and book.rates_multiply:
            return None, 'missing_rate'
        seeded = self._seeded(book, document)
        if seeded is not None:
            return seeded, 'seed_rate'
        if own is not None and own > 0:
            return None, 'unverified_direction'
        return None, 'missing_rate' if has_rates else 'no_rate_in_source'

    def _seeded(self, book, document):
        if document.date is None:
            return None
        known = [
            (valid_from, rate)
            for source, target, valid_from, rate in book.fx_rates
            if source == document.currency and target == self.base and valid_from <= document.date
        ]
        return max(known)[1] if known else None

    def of(self, amount):
        """The amount in the base currency: unchanged if it is in that currency, else rounded to its minor units."""
        if self.value is None:
            return None
        return amount if self.value == 1 and self.status == 'base_currency' else times(
            amount, self.value, places_of(self.base)
        )
