import * as z from 'zod';
import { ApiError } from '../api/api-error.ts';
import { splitMembers } from '../json/members.ts';

/**
 * Reads the body of a write: the object called `wrapper`, and the requested response mode (4.7).
 *
 * @throws ApiError 400 that says what is wrong.
 */
export function readBody(body: string, wrapper: string): WriteBody {
  const value = parse(body);
  const parsed = z
    .looseObject({
      response_mode: z.enum(['async', 'prefer_sync']).optional(),
      [wrapper]: z.looseObject({}),
    })
    .safeParse(value);
  if (!parsed.success) throw invalidBody(parsed.error);
  return {
    members: splitMembers(splitMembers(body).get(wrapper) ?? '{}'),
    responseMode: z.enum(['sync', 'async', 'prefer_sync']).catch('sync').parse(parsed.data.response_mode),
  };
}

/** Builds the error, which names the place of each problem. */
export function invalidBody(error: z.ZodError, at: readonly string[] = []): ApiError {
  const problems = error.issues.map(({ path, message }) => `${[...at, ...path].join('.')}: ${message}`);
  return new ApiError(400, 'INVALID_BODY', `The body is not valid: ${problems.join('; ')}.`);
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw Object.assign(new ApiError(400, 'INVALID_BODY', 'The body is no JSON.'), { cause: error });
  }
}

export interface WriteBody {
  /** Member names and their JSON texts, as written. */
  readonly members: ReadonlyMap<string, string>;
  readonly responseMode: ResponseMode;
}

export type ResponseMode = 'sync' | 'async' | 'prefer_sync';
