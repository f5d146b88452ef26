import type { ExportJob, ExportMessage } from './export-job.ts';
import { failureMessage } from './failure-message.ts';
import { makeSnapshot } from './make-snapshot.ts';

/**
 * The process of one export. DuckDB computes in native threads for minutes: in a process of its own, a crash or a lack of memory does not
 * take the worker down, and its memory returns to the system. It ends with its parent, because nobody would receive its result.
 */
process.once('disconnect', die);
process.once('uncaughtException', (error) => {
  end({ failed: failureMessage(error) });
});

process.once('message', (job: ExportJob) => {
  makeSnapshot(job, (progress) => {
    tell({ progress });
  }).then(
    (exported) => {
      end({ exported });
    },
    (error: unknown) => {
      end({ failed: failureMessage(error) });
    },
  );
});

function tell(message: ExportMessage): void {
  process.send?.(message);
}

function end(message: ExportMessage): void {
  process.send?.(message, die);
}

/** Not by `process.exit`, which waits for DuckDB's threads: a thread that opens a pipe may wait forever. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}
