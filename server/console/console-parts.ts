import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import type { Settings } from '../../config/settings.ts';

/** The data that the console shows and acts on. Temporal may be unreachable at any time. */
export interface ConsoleParts {
  readonly warehouse: Warehouse;
  readonly settings: Settings;
  readonly temporal: Client;
  readonly logger: Logger;
}
