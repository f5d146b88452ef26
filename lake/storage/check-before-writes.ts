import type { S3Client } from '@aws-sdk/client-s3';
import type { AssertHeld } from '../lake.ts';

/** Why a request was not sent is its cause. It has no code, so that the client does not take it for an error of the network, and sends again. */
export class LockNotHeld extends Error {
  override readonly name = 'LockNotHeld';
}

/**
 * Checks the writer's lock before each attempt of a request that writes or removes. The client repeats a request whose answer it has lost, also
 * when a process wakes that stood still: by then the next writer may have put another object in the same place.
 */
export function checkBeforeWrites({ middlewareStack }: S3Client, assertHeld: AssertHeld): void {
  middlewareStack.add(
    (next, { commandName = '' }) =>
      async (request) => {
        if (!/^(Get|Head|List)/.test(commandName)) {
          try {
            await assertHeld();
          } catch (cause) {
            throw new LockNotHeld('The lock of this writer is lost.', { cause });
          }
        }
        return next(request);
      },
    // Within the loop of attempts, which has the priority `high`.
    { step: 'finalizeRequest', priority: 'low', name: 'daybookLock' },
  );
}
