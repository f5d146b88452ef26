import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import type { ScriptedService } from '../replication/scripted-service.ts';
import { createServiceStarter } from '../replication/serve.ts';
import { skewClock } from '../support/skewed-clock.ts';
import { createTestDatabase } from '../support/test-database.ts';

/** A company that was synced once, with a time that the test can advance. */
export interface Company {
  readonly service: ScriptedService;
  /** Advances the time of the service and of the database. */
  readonly advance: (milliseconds: number) => Promise<void>;
  /** Advances only the service's time, as for a host that slept and continues with the time at which it fell asleep. */
  readonly advanceService: (milliseconds: number) => void;
  /** The milliseconds by which the service's time was advanced. */
  readonly now: () => number;
}

export interface Companies {
  readonly warehouse: Warehouse;
  readonly clock: Awaited<ReturnType<typeof skewClock>>;
  /** Starts a service whose company was not synced yet, and corrects the database's clock. */
  readonly serve: () => Promise<ScriptedService>;
  readonly company: (lists: ScriptedService['lists']) => Promise<Company>;
}

/** Creates a database whose clock can be set, and companies in it. */
export async function createCompanies(): Promise<Companies> {
  const { url } = await createTestDatabase();
  const clock = await skewClock(url);
  const warehouse = openWarehouse({ url: clock.url, connections: 12 });
  const startService = createServiceStarter(warehouse);
  const serve = async (): Promise<ScriptedService> => {
    await clock.ahead('0');
    return startService();
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
