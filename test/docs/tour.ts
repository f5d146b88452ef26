import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll } from 'vitest';
import { builtProgram, runDaybook, startDaybook } from '../support/daybook-process.ts';

/** The state after the tour: a running Daybook, its data after the changes, and an `npx` that finds the product. */
export interface Tour {
  readonly home: string;
  readonly lake: string;
  /** The environment of a person who follows the docs. */
  readonly env: Readonly<Record<string, string>>;
  /** The output of the tour. */
  readonly said: string;
  /** Runs one statement with the login of `npx daybook url`. Every value is the text that Postgres writes. */
  readonly query: (statement: string) => Promise<Record<string, string | null>[]>;
}

/** Takes the tour to its end and keeps it running until the last test of the file. */
export async function takeTour(): Promise<Tour> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'daybook-tour-')));
  const env = { DAYBOOK_HOME: home, DAYBOOK_HTTP_PORT: '0' };
  const tour = startDaybook(['tour'], { cwd: home, env });
  let endReading = (): Promise<void> => Promise.resolve();
  afterAll(async () => {
    await endReading();
    await tour.stop();
    rmSync(home, { recursive: true, force: true });
  });
  await tour.waitForOutput(/Running\. Stop with Ctrl-C\./);
  const npx = `#!/bin/sh\n[ "$1" = daybook ] && shift && exec ${process.execPath} ${builtProgram} "$@"\n`;
  writeFileSync(join(home, 'npx'), npx, { mode: 0o755 });
  const { stdout: url } = await runDaybook(['url'], { cwd: home, env });
  const reader = new pg.Client(url.trim());
  await reader.connect();
  endReading = () => reader.end();
  return {
    home,
    env,
    lake: join(home, 'lake'),
    said: tour.output(),
    async query(statement) {
      const { rows } = await reader.query<Record<string, string | null>>({ text: statement, types });
      return rows;
    },
  };
}

const types: pg.CustomTypesConfig = { getTypeParser: () => String };
