import type { ScriptedService } from './scripted-service.ts';

/** The next fetch of bill a is answered by a 410 of `servedAt`, which is in hand while `meanwhile` happens. */
export function goneMeanwhile(
  service: ScriptedService,
  servedAt: Date,
  meanwhile: () => Promise<void>,
): void {
  service.onFetch = async (_resource, id) => {
    if (id !== 'a') return undefined;
    service.onFetch = () => undefined;
    await meanwhile();
    service.date = () => {
      service.date = () => new Date();
      return servedAt;
    };
    return { status: 410, body: '{"error_code":"GONE"}' };
  };
}
