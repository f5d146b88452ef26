import type { ExportJob, ExportMessage } from './export-job.ts';
import { failureMessage } from './failure-message.ts';
import { makeSnapshot } from './make-snapshot.ts';

/**
 * The process of one export. It is one of its own because DuckDB computes in native threads for minutes: a crash or a lack of
 * memory there must not take the worker with it, and what it used goes back to the system. It ends with its parent, for
 * nobody would hear of its end.
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

/** Not by `process.exit`, which waits for DuckDB's threads: one that opens a pipe may wait for ever. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}
