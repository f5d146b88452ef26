import { ApiError } from './api-error.ts';

/** Query parameters of one request. A repeated parameter counts once; unknown ones are never looked at. */
export class Parameters {
  readonly #values: URLSearchParams;

  constructor(query: string) {
    this.#values = new URLSearchParams(query);
  }

  text(name: string): string | null {
    const value = this.#values.get(name);
    return value === null || value === '' ? null : value;
  }

  /** @throws ApiError 400 when it is no whole number. */
  integer(name: string): number | null {
    const value = this.text(name);
    if (value === null) return null;
    if (!/^-?\d{1,15}$/.test(value)) throw invalid(name, 'a whole number');
    return Number(value);
  }

  /** @throws ApiError 400 when it is none of the allowed values. */
  oneOf<T extends string>(name: string, allowed: readonly T[]): T | null {
    const value = this.text(name);
    if (value === null) return null;
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw invalid(name, `one of ${allowed.join(', ')}`);
    return found;
  }

  /**
   * Several of the allowed values, with commas in between.
   *
   * @throws ApiError 400 when one is none of them.
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

  /** The same with another access token. */
  withToken(token: string): Parameters {
    const values = new URLSearchParams(this.#values);
    values.set('access_token', token);
    return new Parameters(values.toString());
  }

  /** For the log: without the value of `access_token`. */
  forLog(): string {
    const shown = new URLSearchParams(this.#values);
    shown.delete('access_token');
    return shown.toString();
  }
}

function invalid(name: string, expected: string): ApiError {
  return new ApiError(400, 'INVALID_PARAMETER', `The parameter ${name} must be ${expected}.`);
}
