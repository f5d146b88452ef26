import type { Settings } from '../api/settings.ts';
import type { FaultRules } from '../faults/fault-rules.ts';
import type { WebhookSender } from '../webhooks/webhook-sender.ts';
import type { Command } from '../world/command.ts';
import type { CommandResult } from '../world/execute-command.ts';
import type { World } from '../world/world.ts';
import type { JobBook } from './job-book.ts';

/** The parts of the service that writes need. */
export interface WriteService {
  readonly world: World;
  readonly settings: Settings;
  readonly faults: Pick<FaultRules, 'takePlatform'>;
  readonly webhooks: Pick<WebhookSender, 'publish'>;
  readonly jobs: JobBook;
  /** Executes a command now and stores it in the journal. */
  readonly execute: (command: Command) => CommandResult;
  /** Aborts background work when the service stops. */
  readonly stopping: AbortSignal;
}
