import type { FaultRules } from '../faults/fault-rules.ts';
import type { RequestFault } from '../faults/fault-rule.ts';
import type { Command } from '../world/command.ts';
import type { CommandResult } from '../world/execute-command.ts';
import type { WebhookSender } from '../webhooks/webhook-sender.ts';
import type { World } from '../world/world.ts';
import type { JobBook } from '../writes/job-book.ts';
import type { Credentials } from './authenticate.ts';
import type { RequestLog } from './request-log.ts';
import type { Settings } from './settings.ts';

/** What the API and its admin interface share. */
export interface Service {
  readonly world: World;
  readonly credentials: Credentials;
  readonly faults: FaultRules;
  readonly log: RequestLog;
  settings: Settings;
  readonly jobs: JobBook;
  readonly webhooks: WebhookSender;
  randomFault(): RequestFault | null;
  /** Executes a command now and keeps it in the journal. */
  readonly execute: (command: Command) => CommandResult;
  /** Ends what goes on in the background when the service stops. */
  readonly stopping: AbortSignal;
}
