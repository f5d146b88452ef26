import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import { afterAll } from 'vitest';
import type { TestNamespace } from '../support/temporal-namespace.ts';

/** A client of the same namespace that counts its requests to Temporal by name. */
export async function countRequests({
  address,
  namespace,
}: Pick<TestNamespace, 'address' | 'namespace'>): Promise<{ client: Client; asked: Map<string, number> }> {
  const asked = new Map<string, number>();
  const count = (
    options: { method_definition: { path: string } },
    next: (options: object) => unknown,
  ): unknown => {
    const method = options.method_definition.path.split('/').at(-1) ?? '';
    asked.set(method, (asked.get(method) ?? 0) + 1);
    return next(options);
  };
  const connection = await Connection.connect({ address, interceptors: asInterceptors([count]) });
  afterAll(() => connection.close());
  return { client: new Client({ connection, namespace }), asked };
}

type Interceptors = NonNullable<ConnectionOptions['interceptors']>;

/** gRPC's types require a class, although its code accepts whatever the next interceptor returns. */
function asInterceptors(counters: unknown[]): Interceptors {
  return counters as Interceptors;
}
