import type { ChaosProfile } from '../data/chaos-profile.ts';
import type { Command } from './command.ts';
import { defaultConnections } from './default-connections.ts';
import { executeCommand } from './execute-command.ts';
import type { CommandResult } from './execute-command.ts';
import { openJournal } from './journal.ts';
import { createWorld } from './world.ts';
import type { World } from './world.ts';

/** Begins a world with its default connections, or continues the one in the journal. */
export function openWorld(options: WorldOptions): OpenWorld {
  const journal = openJournal(options.journal);
  const description = journal.description ?? {
    seed: options.seed,
    asOf: Date.parse(options.asOf),
    chaos: options.chaos,
  };
  const world = createWorld(description);
  for (const { command, at } of journal.entries) executeCommand(world, command, at);

  function execute(command: Command): Executed {
    const at = world.clock.now();
    const result = executeCommand(world, command, at);
    journal.append(command, at);
    return { command, result, at };
  }

  if (journal.description === null) {
    journal.describe(description);
    for (const command of defaultConnections(options.records)) execute(command);
  }
  return { world, execute };
}

interface WorldOptions {
  readonly journal?: string | undefined;
  readonly seed: number;
  readonly asOf: string;
  readonly records: number;
  readonly chaos: ChaosProfile;
}

export interface OpenWorld {
  readonly world: World;
  /** Executes a command at the service's current time, and stores it in the journal. */
  readonly execute: (command: Command) => Executed;
}

export interface Executed {
  readonly command: Command;
  readonly result: CommandResult;
  /** The service's time, Unix ms. */
  readonly at: number;
}
