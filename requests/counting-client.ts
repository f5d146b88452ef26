import type { ApiClient } from '../source/api-client.ts';

/** The client with a count of its requests, failed ones included, for the run's costs. */
export interface CountingClient {
  readonly api: ApiClient;
  /** Requests since the last call. */
  takeCount(): number;
}

export function createCountingClient(api: ApiClient): CountingClient {
  let requests = 0;
  return {
    api: {
      ...api,
      list: (request) => {
        requests += 1;
        return api.list(request);
      },
      fetch: (request) => {
        requests += 1;
        return api.fetch(request);
      },
    },
    takeCount() {
      const counted = requests;
      requests = 0;
      return counted;
    },
  };
}
