import { describe, expect, test } from 'vitest';
import { errorFromResponse, type ErrorResponse } from '../../source/error-from-response.ts';

const now = new Date('2026-03-01T12:00:00Z');

function errorOf(response: Partial<ErrorResponse>): Error {
  return errorFromResponse(
    {
      request: 'GET /accounting/bills',
      kind: 'list',
      status: 500,
      requestId: 'req_1',
      retryAfter: null,
      date: null,
      text: '',
      ...response,
    },
    now,
  );
}

function coded(code: string): string {
  return JSON.stringify({ error_type: 'INVALID_REQUEST_ERROR', error_code: code, error_message: 'no' });
}

const bodies = [
  '',
  '{}',
  'null',
  '[1]',
  '<html>down</html>',
  '{"error_code":',
  '{"error_code":7}',
  coded('SOMETHING_NEW'),
];

describe('a status means the same with any body', () => {
  test.each([
    [301, 'RequestRefused', 'stop'],
    [302, 'SourceUnavailable', 'retry'],
    [400, 'RequestRefused', 'stop'],
    [401, 'CredentialsRefused', 'stop'],
    [403, 'RequestRefused', 'stop'],
    [404, 'NotSupported', 'stop'],
    [408, 'SourceUnavailable', 'retry'],
    [409, 'RequestRefused', 'stop'],
    [410, 'RequestRefused', 'stop'],
    [429, 'RateLimited', 'wait'],
    [450, 'RequestRefused', 'stop'],
    [451, 'PlatformAccessRefused', 'stop'],
    [452, 'RateLimited', 'wait'],
    [500, 'SourceUnavailable', 'retry'],
    [502, 'SourceUnavailable', 'retry'],
    [503, 'SourceUnavailable', 'retry'],
    [504, 'SourceUnavailable', 'retry'],
    [520, 'SourceUnavailable', 'retry'],
    [550, 'SourceUnavailable', 'retry'],
  ])('%i is %s: %s', (status, name, handling) => {
    for (const body of bodies)
      expect(errorOf({ status, text: body })).toMatchObject({ name, handling, status });
  });

  test.each([404, 410])('%i on a fetch is RecordGone', (status) => {
    expect(errorOf({ kind: 'fetch', status })).toMatchObject({ name: 'RecordGone', handling: 'stop' });
  });
});

describe('an error_code', () => {
  test.each([400, 401, 403, 404, 409, 423, 429, 451, 500, 503])(
    'PRODUCT_NOT_READY leads to a wait with status %i',
    (status) => {
      const error = errorOf({ status, text: coded('PRODUCT_NOT_READY') });
      expect(error).toMatchObject({ name: 'ProductNotReady', handling: 'wait' });
    },
  );

  describe.each(['INVALID_CREDENTIALS', 'CONNECTION_DISABLED', 'NEEDS_UPDATE', 'PRODUCT_NOT_ALLOWED'])(
    '%s',
    (code) => {
      test.each([400, 403, 404, 410, 422, 450, 451])('stops with status %i', (status) => {
        const error = errorOf({ status, text: coded(code) });
        expect(error).toMatchObject({ name: 'ConnectionDisabled', handling: 'stop', errorCode: code });
      });

      test('is retried while the service itself is down', () => {
        expect(errorOf({ status: 503, text: coded(code) })).toMatchObject({ handling: 'retry' });
      });
    },
  );

  test('CONNECTION_DISABLED with 401 is ConnectionDisabled, and INVALID_CREDENTIALS with 401 is CredentialsRefused', () => {
    const disabled = errorOf({ status: 401, text: coded('CONNECTION_DISABLED') });
    expect(disabled.name).toBe('ConnectionDisabled');
    const refused = errorOf({ status: 401, text: coded('INVALID_CREDENTIALS') });
    expect(refused.name).toBe('CredentialsRefused');
  });

  test('is found in a body that breaks off after it', () => {
    const body = '{"error_type": "X", "error_code" : "PRODUCT_NOT_READY", "error_mess';
    expect(errorOf({ status: 400, text: body }).name).toBe('ProductNotReady');
  });

  test.each([
    '{"error":{"code":"PRODUCT_NOT_READY"}}',
    '{"errors":[{"type": "PRODUCT_NOT_READY", "detail":"not yet"}]}',
    '{"errorCode":"PRODUCT_NOT_READY"}',
    '{"message":"wait","code":"PRODUCT_NOT_READY","mess',
    '["PRODUCT_NOT_READY"]',
    '"PRODUCT_NOT_READY"',
    ' PRODUCT_NOT_READY\n',
  ])('PRODUCT_NOT_READY leads to a wait as any value of the body: %s', (text) => {
    for (const status of [400, 401, 404, 409, 451, 503])
      expect(errorOf({ status, text })).toMatchObject({
        name: 'ProductNotReady',
        handling: 'wait',
        errorCode: 'PRODUCT_NOT_READY',
      });
  });

  test.each([
    '{"message":"Not PRODUCT_NOT_READY"}',
    '<p>PRODUCT_NOT_READY</p>',
    '{"code":"PRODUCT_NOT_READY_YET"}',
  ])('PRODUCT_NOT_READY as part of a longer text is ignored: %s', (text) => {
    expect(errorOf({ status: 400, text }).name).toBe('RequestRefused');
  });

  test('is ignored if it is quoted in a message', () => {
    const body = JSON.stringify({ error_message: '{"error_code":"PRODUCT_NOT_READY"}' });
    expect(errorOf({ status: 400, text: body }).name).toBe('RequestRefused');
  });
});

describe('a rate limit lasts', () => {
  const date = 'Sun, 01 Mar 2026 20:00:00 GMT';
  test.each([
    ['the seconds it says', { retryAfter: '7' }, 7_000],
    ['the fraction it says', { retryAfter: ' 2.5 ' }, 2_500],
    ['until its HTTP date', { retryAfter: 'Sun, 01 Mar 2026 12:01:00 GMT' }, 60_000],
    [
      'until its HTTP date by the clock of the service, hours off or not',
      { retryAfter: 'Sun, 01 Mar 2026 20:00:30 GMT', date },
      30_000,
    ],
    ['ten seconds when it does not say', {}, 10_000],
    ['ten seconds when it says nonsense', { retryAfter: 'soon 1' }, 10_000],
    ['ten seconds when it says less than nothing', { retryAfter: '-5' }, 10_000],
    ['a second when it says none', { retryAfter: '0' }, 1_000],
    ['a second when its date is over', { retryAfter: 'Sun, 01 Mar 2026 11:00:00 GMT' }, 1_000],
    ['15 minutes at most', { retryAfter: '86400' }, 900_000],
    ['15 minutes at most by date', { retryAfter: 'Sun, 01 Mar 2026 18:00:00 GMT' }, 900_000],
  ])('%s', (_, headers, milliseconds) => {
    const error = errorOf({ status: 429, ...headers });
    expect(error).toMatchObject({ milliseconds });
  });
});

test('the message is one sentence that names the request, the status, the code and the request ID', () => {
  const error = errorOf({ status: 450, text: coded('BAD_FILTER') });
  expect(error.message).toBe(
    'GET /accounting/bills was refused (450, BAD_FILTER, request req_1): check DAYBOOK_API_URL and DAYBOOK_API_VERSION, and give the request id to the finance API.',
  );
});
