import type { Settings } from '../api/settings.ts';
import type { FaultRules } from '../faults/fault-rules.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { WebhookSender } from '../webhooks/webhook-sender.ts';
import type { Command } from '../world/command.ts';
import type { CommandResult } from '../world/execute-command.ts';
import type { World } from '../world/world.ts';

/** The objects that the admin interface inspects, changes and breaks. */
export interface AdminService {
  readonly world: World;
  readonly faults: FaultRules;
  readonly log: RequestLog;
  readonly webhooks: WebhookSender;
  settings: Settings;
  readonly execute: (command: Command) => CommandResult;
}
