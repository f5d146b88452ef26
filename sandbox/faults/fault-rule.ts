import * as z from 'zod';
import { commandSchema } from '../world/command.ts';

const retryAfter = z.string().optional();

/** Faults between the service and the platform while a write is passed on; each attempt may meet one. */
const platformFaultSchemas = [
  /** The platform's own error: 450 (it answered 400), 451 (401), 452 (429) or 550 (500). */
  z.strictObject({
    kind: z.literal('platform-error'),
    status: z.literal([450, 451, 452, 550]),
    message: z.string().default('The platform said no.'),
  }),
  /** The platform refuses, and the answer is `errors`. */
  z.strictObject({
    kind: z.literal('platform-refusal'),
    code: z.string().default('PLATFORM_VALIDATION'),
    message: z.string().default('The platform does not accept this.'),
  }),
  /** The platform responds late. */
  z.strictObject({ kind: z.literal('slow-platform'), ms: z.number().min(0) }),
] as const;

/** One way in which an answer can go wrong. */
export const faultSchema = z.discriminatedUnion('kind', [
  /** An error of the service; `retryAfter` is sent as written. */
  z.strictObject({
    kind: z.literal('status'),
    status: z.int(),
    code: z.string().default('INJECTED_FAULT'),
    retryAfter,
  }),
  /** A page of HTML, as proxies send. */
  z.strictObject({ kind: z.literal('html'), status: z.int().default(502), retryAfter }),
  z.strictObject({ kind: z.literal('empty'), status: z.int().default(200) }),
  /** Half of the correct answer, as a complete HTTP response. */
  z.strictObject({ kind: z.literal('truncated') }),
  /** The correct answer, but the connection breaks halfway. */
  z.strictObject({ kind: z.literal('cut') }),
  /** The correct answer, after a delay. */
  z.strictObject({ kind: z.literal('slow'), ms: z.number().min(0) }),
  /** The connection is closed without an answer. */
  z.strictObject({ kind: z.literal('reset') }),
  /** No answer, and the connection stays open. */
  z.strictObject({ kind: z.literal('hang') }),
  /** A body that never ends: a space every 50 ms. */
  z.strictObject({ kind: z.literal('never-ending') }),
  z.strictObject({ kind: z.literal('not-ready') }),
  /** `next_cursor` leads to the same page again. */
  z.strictObject({ kind: z.literal('repeat-cursor') }),
  /** At most this many records, possibly none, with a `next_cursor` to continue. */
  z.strictObject({ kind: z.literal('short-page'), records: z.int().min(0) }),
  /** The correct answer, after the world has changed: mutations between two pages. */
  z.strictObject({ kind: z.literal('mutate'), commands: z.array(commandSchema) }),
  /** The answer to the same request with the access token of that connection. */
  z.strictObject({ kind: z.literal('another-connection'), connection: z.string() }),
  ...platformFaultSchemas,
]);

export const faultRuleSchema = z.strictObject({
  /** The matching requests: the path begins with `path`, and the query contains `query`. Without either: all. */
  match: z
    .strictObject({
      method: z.enum(['GET', 'POST', 'PATCH', 'DELETE']).optional(),
      path: z.string().optional(),
      connection: z.string().optional(),
      query: z.string().optional(),
    })
    .default({}),
  /** The number of matching requests that pass first. */
  after: z.int().min(0).default(0),
  /** How often the fault occurs. Without `times` and `forMs`: until the rule is removed. */
  times: z.int().min(1).optional(),
  /** How long the fault occurs, from when the rule is added. */
  forMs: z.number().min(0).optional(),
  fault: faultSchema,
});

export type Fault = z.output<typeof faultSchema>;
export type PlatformFault = z.output<(typeof platformFaultSchemas)[number]>;
/** Faults between the client and the service. */
export type RequestFault = Exclude<Fault, PlatformFault>;

export function isPlatformFault(fault: Fault): fault is PlatformFault {
  return platformFaultSchemas.some(({ shape }) => shape.kind.value === fault.kind);
}
/** A rule as it is sent; members with a default may be omitted. */
export type FaultRuleInput = z.input<typeof faultRuleSchema>;
export type FaultRule = z.output<typeof faultRuleSchema>;
