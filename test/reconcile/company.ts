import type { ScriptedService } from '../replication/scripted-service.ts';
import type { skewClock } from '../support/skewed-clock.ts';

/** A company that was synced once, in a time that the test moves on. */
export interface Company {
  readonly service: ScriptedService;
  /** The service's time, and that of the database. */
  readonly advance: (milliseconds: number) => Promise<void>;
  /** Only the service's: the host that slept goes on with the time at which it fell asleep. */
  readonly advanceService: (milliseconds: number) => void;
  /** By how much the service's time has been moved, milliseconds. */
  readonly now: () => number;
}

/** Makes companies in a database whose clock can be set. */
export function companiesOf(
  skewed: Awaited<ReturnType<typeof skewClock>>,
  serve: () => Promise<ScriptedService>,
): (lists: ScriptedService['lists']) => Promise<Company> {
  return async (lists) => {
    await skewed.ahead('0');
    const service = await serve();
    let now = 0;
    service.date = () => new Date(Date.now() + now);
    service.lists = lists;
    await service.sync(Object.keys(lists));
    return {
      service,
      async advance(milliseconds) {
        now += milliseconds;
        await skewed.ahead(`${now} milliseconds`);
      },
      advanceService(milliseconds) {
        now += milliseconds;
      },
      now: () => now,
    };
  };
}
