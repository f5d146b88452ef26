import { expect, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { onFreePorts } from '../../embedded/on-free-ports.ts';

test('a server gets its preferred port if it is free', async () => {
  const api = await freePort();
  const { ports, server } = await onFreePorts({ api }, (taken) => Promise.resolve(taken), {
    except: api + 1,
  });
  expect(ports).toEqual({ api });
  expect(server).toEqual({ api });
});

test('a server leaves a port to the HTTP server, although it is free and the server prefers it', async () => {
  const [api, admin] = [await freePort(), await freePort()];
  const { ports } = await onFreePorts({ api, admin }, (taken) => Promise.resolve(taken), { except: api });
  expect(ports.api).not.toBe(api);
  expect(ports.admin).toBe(admin);
});
