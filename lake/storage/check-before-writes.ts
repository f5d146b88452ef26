import type { S3Client } from '@aws-sdk/client-s3';
import { asLockNotHeld } from '../lock-not-held.ts';
import type { AssertHeld } from '../lake.ts';

/**
 * Checks the writer's lock before each attempt of a request that writes or removes. The client repeats a request whose answer it has lost, also
 * when a process wakes that stood still: by then the next writer may have put another object in the same place.
 */
export function checkBeforeWrites({ middlewareStack }: S3Client, assertHeld: AssertHeld): void {
  middlewareStack.add(
    (next, { commandName = '' }) =>
      async (request) => {
        if (!/^(Get|Head|List)/.test(commandName)) await asLockNotHeld(assertHeld);
        return next(request);
      },
    // Within the loop of attempts, which has the priority `high`.
    { step: 'finalizeRequest', priority: 'low', name: 'daybookLock' },
  );
}
