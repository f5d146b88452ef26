import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { Command } from 'commander';
import { freePort } from '../../embedded/free-port.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { startTemporal } from '../../embedded/temporal.ts';
import { migrate } from '../../warehouse/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import type { Place } from './open-company.ts';
import { runDay, type Day, type DayOptions } from './run-day.ts';

const program = new Command('day')
  .description(
    'A day of three companies in minutes: changes, faults, kills; in the end everything must be right.',
  )
  .option('--ticks <n>', 'syncs of each connection, at least', Number, 300)
  .option('--tick-seconds <n>', 'from one sync to the next', Number, 2)
  .option('--records <n>', 'records of each connection at the beginning', Number, 600)
  .option('--seed <n>', 'repeats the decisions of another day', Number, Date.now() % 1_000_000)
  .addHelpText('after', '\nExample:\n  $ npm run day -- --ticks 50 --seed 4711')
  .action(async (options: DayOptions) => {
    report(`Seed ${options.seed}`);
    const day = await inPlace((place) => runDay(place, options, report));
    show(day, options);
    process.exitCode = day.complaints.length === 0 ? 0 : 1;
  });

await program.parseAsync();

/** Servers of the day's own, in a folder that goes away. */
async function inPlace(live: (place: Place) => Promise<Day>): Promise<Day> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-day-'));
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), port: await freePort() });
  const temporalOptions = {
    databaseFile: join(folder, 'temporal.db'),
    port: await freePort(),
    uiPort: await freePort(),
    report,
  };
  let temporal = await startTemporal(temporalOptions);
  const interruptTemporal = async (): Promise<void> => {
    await temporal.stop();
    await wait(5_000);
    temporal = await startTemporal(temporalOptions);
  };
  const warehouse = openWarehouse({ url: postgres.url, connections: 4 });
  const connection = await Connection.connect({ address: temporal.address });
  try {
    await migrate(warehouse);
    report(`Watch it at ${temporal.ui}`);
    return await live({
      databaseUrl: postgres.url,
      warehouse,
      temporalAddress: temporal.address,
      namespace: 'default',
      client: new Client({ connection }),
      folder,
      interruptTemporal,
    });
  } finally {
    await connection.close();
    await warehouse.close();
    await temporal.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function report(progress: string): void {
  process.stderr.write(`${progress}\n`);
}

function show({ summary, complaints }: Day, { seed }: DayOptions): void {
  const verdict =
    complaints.length === 0
      ? 'Everything is as the source has it.'
      : [`${complaints.length} complaints (seed ${seed}):`, ...complaints].join('\n  ');
  process.stdout.write(`${JSON.stringify(summary, null, 2)}\n${verdict}\n`);
}
