import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { chaosProfiles } from '../data/chaos-profile.ts';
import { commandSchema } from './command.ts';
import type { Command } from './command.ts';
import type { WorldDescription } from './world.ts';

/**
 * Opens the file that lets a world outlive its process: the first line describes the world, and each further line is one
 * command. Without a path, nothing is stored.
 *
 * @throws if the file contains anything else, because the world would silently be a different one.
 */
export function openJournal(path: string | undefined): Journal {
  if (path === undefined)
    return { description: null, entries: [], describe: () => undefined, append: () => undefined };
  mkdirSync(dirname(path), { recursive: true });
  const lines = existsSync(path) ? readLines(path) : [];
  const [first, ...rest] = lines;
  return {
    description: first === undefined ? null : descriptionSchema.parse(JSON.parse(first)),
    entries: rest.map((line) => entrySchema.parse(JSON.parse(line))),
    describe: (description) => {
      appendFileSync(path, `${JSON.stringify(description)}\n`);
    },
    append: (command, at) => {
      appendFileSync(path, `${JSON.stringify({ at, command })}\n`);
    },
  };
}

/** Removes a half-written last line, which a killed process may leave, so that the next command gets a line of its own. */
function readLines(path: string): string[] {
  const bytes = readFileSync(path);
  const complete = bytes.lastIndexOf('\n') + 1;
  truncateSync(path, complete);
  return bytes.toString('utf8', 0, complete).split('\n').slice(0, -1);
}

const descriptionSchema = z.object({ seed: z.number(), asOf: z.number(), chaos: z.enum(chaosProfiles) });
const entrySchema = z.object({ at: z.number(), command: commandSchema });

export interface Journal {
  /** The world that the file began with, if any. */
  readonly description: WorldDescription | null;
  readonly entries: readonly { readonly at: number; readonly command: Command }[];
  describe(description: WorldDescription): void;
  append(command: Command, at: number): void;
}
