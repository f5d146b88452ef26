import { afterEach } from 'vitest';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { ScriptedService } from './scripted-service.ts';

/** Makes services with an empty connection each, which end with their test. */
export function createServiceStarter(warehouse: Warehouse): () => Promise<ScriptedService> {
  const started: ScriptedService[] = [];
  afterEach(() => {
    for (const service of started.splice(0)) service.stop();
  });
  return async () => {
    const service = await new ScriptedService(warehouse).start();
    started.push(service);
    return service;
  };
}
