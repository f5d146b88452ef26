import { ApiError } from './api-error.ts';

/** The query parameters of one request. The first value of a repeated parameter counts; unknown parameters are ignored. */
export class Parameters {
  readonly #values: URLSearchParams;

  constructor(query: string) {
    this.#values = new URLSearchParams(query);
  }

  text(name: string): string | null {
    const value = this.#values.get(name);
    return value === null || value === '' ? null : value;
  }

  /** @throws ApiError 400 if it is not a whole number. */
  integer(name: string): number | null {
    const value = this.text(name);
    if (value === null) return null;
    if (!/^-?\d{1,15}$/.test(value)) throw invalid(name, 'a whole number');
    return Number(value);
  }

  /** @throws ApiError 400 if it is not one of the allowed values. */
  oneOf<T extends string>(name: string, allowed: readonly T[]): T | null {
    const value = this.text(name);
    if (value === null) return null;
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw invalid(name, `one of ${allowed.join(', ')}`);
    return found;
  }

  /**
   * Reads several of the allowed values, separated by commas.
   *
   * @throws ApiError 400 if one of them is not allowed.
   */
  someOf(name: string, allowed: readonly string[]): readonly string[] | null {
    const values = this.text(name)
      ?.split(',')
      .map((value) => value.trim());
    if (values === undefined) return null;
    if (!values.every((value) => allowed.includes(value)))
      throw invalid(name, `some of ${allowed.join(', ')}`);
    return values;
  }

  /** Returns the same parameters with another access token. */
  withToken(token: string): Parameters {
    const values = new URLSearchParams(this.#values);
    values.set('access_token', token);
    return new Parameters(values.toString());
  }

  /** Returns the parameters for the log, without the value of `access_token`. */
  forLog(): string {
    const shown = new URLSearchParams(this.#values);
    shown.delete('access_token');
    return shown.toString();
  }
}

function invalid(name: string, expected: string): ApiError {
  return new ApiError(400, 'INVALID_PARAMETER', `The parameter ${name} must be ${expected}.`);
}
