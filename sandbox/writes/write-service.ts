import type { Settings } from '../api/settings.ts';
import type { FaultRules } from '../faults/fault-rules.ts';
import type { WebhookSender } from '../webhooks/webhook-sender.ts';
import type { Command } from '../world/command.ts';
import type { CommandResult } from '../world/execute-command.ts';
import type { World } from '../world/world.ts';
import type { JobBook } from './job-book.ts';

/** What writes need of the service. */
export interface WriteService {
  readonly world: World;
  readonly settings: Settings;
  readonly faults: Pick<FaultRules, 'takePlatform'>;
  readonly webhooks: Pick<WebhookSender, 'publish'>;
  readonly jobs: JobBook;
  /** Executes a command now and keeps it in the journal. */
  readonly execute: (command: Command) => CommandResult;
  /** Ends what goes on in the background when the service stops. */
  readonly stopping: AbortSignal;
}
