import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** Runs each statement again and again, in a session of its own. */
export function repeatStatements(
  url: string,
  statements: Readonly<Record<string, string>>,
): RepeatedStatements {
  let over = false;
  const sessions = Object.values(statements).map(async (statement) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    let slowest = 0;
    while (!over) {
      const started = performance.now();
      await client.query(statement);
      slowest = Math.max(slowest, performance.now() - started);
      await pause(20);
    }
    await client.end();
    return slowest;
  });
  return {
    async stopAndMeasure() {
      over = true;
      return Math.max(...(await Promise.all(sessions)));
    },
  };
}

export interface RepeatedStatements {
  /** Stops, and returns how many milliseconds the slowest of all answers took. */
  stopAndMeasure(): Promise<number>;
}
