import type { S3Client } from '@aws-sdk/client-s3';
import type { AssertHeld } from '../lake.ts';

/** A request was not sent. The client sends again after errors of the network, for which it also looks at an error's code and its causes: it has neither. */
export class LockNotHeld extends Error {
  override readonly name = 'LockNotHeld';
  readonly why: unknown;

  constructor(why: unknown) {
    super('The lock of this writer is not held.');
    this.why = why;
  }
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
          } catch (error) {
            throw new LockNotHeld(error);
          }
        }
        return next(request);
      },
    // Within the loop of attempts, which has the priority `high`.
    { step: 'finalizeRequest', priority: 'low', name: 'daybookLock' },
  );
}
