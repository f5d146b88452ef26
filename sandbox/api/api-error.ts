/**
 * An error answer of the service (section 7). The document does not define the body's shape; this one is common among
 * such services.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  body(): string {
    const fromPlatform = [450, 451, 452, 550].includes(this.status);
    return JSON.stringify({
      error_type: errorType(this.status, this.code),
      error_code: this.code,
      error_message: this.message,
      ...(fromPlatform && { error_metadata: { source: 'platform', human_readable: this.message } }),
    });
  }
}

/** Converts any error to an answer of the service. A request that the HTTP server refuses, such as a body that is too large, is a client error. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : 'Unknown.';
  const refused = error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500;
  return refused
    ? new ApiError(400, 'INVALID_REQUEST', message)
    : new ApiError(500, 'INTERNAL_SERVER_ERROR', message);
}

function errorType(status: number, code: string): string {
  if (connectionCodes.includes(code)) return 'CONNECTION_ERROR';
  if (status === 429) return 'RATE_LIMIT_ERROR';
  if (status >= 450 && status <= 452) return 'PLATFORM_ERROR';
  if (status === 550) return 'PLATFORM_ERROR';
  return status >= 500 ? 'INTERNAL_ERROR' : 'INVALID_REQUEST_ERROR';
}

const connectionCodes = [
  'INVALID_CREDENTIALS',
  'CONNECTION_DISABLED',
  'NEEDS_UPDATE',
  'PRODUCT_NOT_ALLOWED',
  'PRODUCT_NOT_READY',
];
