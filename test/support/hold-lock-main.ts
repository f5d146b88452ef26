import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { openExportSession } from '../../warehouse/snapshots/open-snapshot.ts';

/**
 * A process for tests to freeze and kill. Takes the lock argv[2] in the database argv[3] and prints that; on SIGUSR2 it prints whether it
 * still holds it.
 */
const [, , what = '', databaseUrl = ''] = process.argv;
const staying = setInterval(() => undefined, 60_000);

try {
  if (what === 'export') {
    const session = await openExportSession(databaseUrl);
    hold(() => session.assertAlive());
  } else {
    await withBuildLock({ databaseUrl, target: 'postgres' }, async (lock) => {
      hold(() => lock.assertHeld());
      await new Promise(() => undefined);
    });
  }
} catch (error) {
  say(error instanceof Error ? error.name : String(error));
  clearInterval(staying);
}

function hold(assertHeld: () => Promise<void>): void {
  process.on('SIGUSR2', () => {
    assertHeld().then(
      () => {
        say('still held');
      },
      () => {
        say('lost');
      },
    );
  });
  say('held');
}

function say(word: string): void {
  process.stdout.write(`${word}\n`);
}
