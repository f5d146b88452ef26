import type { ScriptedService } from './scripted-service.ts';

/** Makes the next fetch of bill a answer 410 with the time `servedAt`, and holds the answer while `meanwhile` runs. */
export function answerGoneAfter(
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
