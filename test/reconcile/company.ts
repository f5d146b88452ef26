import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import type { ScriptedService } from '../replication/scripted-service.ts';
import { servicesOf } from '../replication/serve.ts';
import { skewClock } from '../support/skewed-clock.ts';
import { createTestDatabase } from '../support/test-database.ts';

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

export interface Companies {
  readonly warehouse: Warehouse;
  readonly clock: Awaited<ReturnType<typeof skewClock>>;
  /** A service whose company was not synced yet; the clock of the database is right again. */
  readonly serve: () => Promise<ScriptedService>;
  readonly company: (lists: ScriptedService['lists']) => Promise<Company>;
}

/** A database whose clock can be set, and companies in it. */
export async function createCompanies(): Promise<Companies> {
  const { url } = await createTestDatabase();
  const clock = await skewClock(url);
  const warehouse = openWarehouse({ url: clock.url, connections: 12 });
  const serveOf = servicesOf(warehouse);
  const serve = async (): Promise<ScriptedService> => {
    await clock.ahead('0');
    return serveOf();
  };
  return {
    ...{ warehouse, clock, serve },
    async company(lists) {
      const service = await serve();
      let now = 0;
      service.date = () => new Date(Date.now() + now);
      service.lists = lists;
      await service.sync(Object.keys(lists));
      return {
        service,
        async advance(milliseconds) {
          now += milliseconds;
          await clock.ahead(`${now} milliseconds`);
        },
        advanceService(milliseconds) {
          now += milliseconds;
        },
        now: () => now,
      };
    },
  };
}
