import { setTimeout as wait } from 'node:timers/promises';
import { ApiError } from '../api/api-error.ts';
import type { DataRequest } from '../api/data-request.ts';
import type { Connection } from '../world/connection.ts';
import { PlatformRefusal } from './platform-refusal.ts';
import type { WriteService } from './write-service.ts';

/**
 * Passes a write on to the platform (1.4), which may be slow, fail or refuse: see the fault rules.
 *
 * @throws ApiError 450, 451, 452, 550; PlatformRefusal
 */
export async function passToPlatform(
  service: WriteService,
  { target }: DataRequest<Connection>,
): Promise<void> {
  const fault = service.faults.takePlatform(target);
  if (fault?.kind === 'slow-platform') await pause(service, fault.ms);
  if (fault?.kind === 'platform-refusal') throw new PlatformRefusal(fault.code, fault.message);
  if (fault?.kind === 'platform-error') throw new ApiError(fault.status, codes[fault.status], fault.message);
}

/** Waits inside a write, in the compressed time of the settings. Throws when the service stops. */
export async function pause({ settings, stopping }: WriteService, ms: number): Promise<void> {
  await wait(ms / settings.timeFactor, undefined, { signal: stopping });
}

const codes = {
  450: 'PLATFORM_BAD_REQUEST',
  451: 'PLATFORM_UNAUTHORIZED',
  452: 'PLATFORM_RATE_LIMITED',
  550: 'PLATFORM_SERVER_ERROR',
} as const;
